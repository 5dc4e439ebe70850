"""LoRA adapters: their GGUF files, and how llama.cpp agrees with PyTorch on them."""
