"""The command `tally`: reads files and settings, asks the core, prints. No other package reads the environment."""
