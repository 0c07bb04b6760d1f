package scripts;

/** What a client does with a server; its steps are what both servers must answer alike. */
interface Script {
    void run(Server server, Steps steps) throws Exception;
}
