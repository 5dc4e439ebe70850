"""All of the gateway's input and output: connections to servers, and the two doors."""
