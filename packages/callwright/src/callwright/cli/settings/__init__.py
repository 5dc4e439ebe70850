"""Settings of commands: configuration files, environment and command-line options."""
