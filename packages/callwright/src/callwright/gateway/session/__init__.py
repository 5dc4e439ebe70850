"""The decisions of the gateway, without any input or output: generators and values."""
