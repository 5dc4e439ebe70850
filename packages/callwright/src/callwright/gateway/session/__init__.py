"""What the gateway decides, without any input or output: generators and values."""
