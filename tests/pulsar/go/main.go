// Command scripts runs scripts of the Go client against one server: one JSON line for each step.
//
// Arguments: service URL, admin URL, prefix of topic names, then scripts ("all" for every one).
package main

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/apache/pulsar-client-go/pulsar"
	"github.com/apache/pulsar-client-go/pulsar/log"
	"github.com/sirupsen/logrus"
)

type script func(server server, say say) error

type say func(step string, outcome any)

type server struct {
	client pulsar.Client
	prefix string
}

var scripts = map[string]script{
	"avro":       avro,
	"json":       asJSON,
	"shared":     shared,
	"key-shared": keyShared,
	"reader":     reader,
	"seek":       seek,
	"refusals":   refusals,
}

func main() {
	if len(os.Args) == 2 && os.Args[1] == "list" {
		fmt.Println(strings.Join(names(), "\n"))
		return
	}
	client, err := connect(os.Args[1])
	if err != nil {
		panic(err)
	}
	defer client.Close()
	wanted := os.Args[4:]
	if slices.Contains(wanted, "all") {
		wanted = names()
	}
	for _, name := range wanted {
		run(name, server{client, os.Args[3]})
	}
}

func connect(url string) (pulsar.Client, error) {
	silent := logrus.New()
	silent.SetOutput(io.Discard)
	options := pulsar.ClientOptions{URL: url, OperationTimeout: 15 * time.Second, Logger: log.NewLoggerWithLogrus(silent)}
	if token := os.Getenv("TALLYSTICK_TOKEN"); token != "" {
		options.Authentication = pulsar.NewAuthenticationToken(token)
	}
	options.TLSTrustCertsFilePath = os.Getenv("TALLYSTICK_TRUST")
	return pulsar.NewClient(options)
}

func names() []string {
	all := make([]string, 0, len(scripts))
	for name := range scripts {
		all = append(all, name)
	}
	slices.Sort(all)
	return all
}

func run(name string, server server) {
	say := func(step string, outcome any) {
		line, err := json.Marshal(map[string]any{"script": name, "step": step, "outcome": outcome})
		if err != nil {
			panic(err)
		}
		fmt.Println(string(line))
	}
	if err := scripts[name](server, say); err != nil {
		say("the script", failure(err))
	}
	say("end", true)
}

// failure keeps the server's code apart from its words.
func failure(err error) map[string]string {
	parts := strings.SplitN(err.Error(), ": ", 3)
	return map[string]string{"error": strings.Join(parts[:min(2, len(parts))], ": "), "message": err.Error()}
}

func (s server) topic(name string) string {
	return "persistent://public/default/" + s.prefix + "-" + name
}
