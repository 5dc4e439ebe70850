"""A tiny random Qwen2 with a tokenizer of bytes, as a GGUF file that llama.cpp loads."""

from __future__ import annotations

from pathlib import Path
from typing import Any

CHATML = (
    "{% for m in messages %}{{ '<|im_start|>' + m['role'] + '\n' + m['content'] + '<|im_end|>\n' }}"
    "{% endfor %}{% if add_generation_prompt %}{{ '<|im_start|>assistant\n' }}{% endif %}"
)


def qwen_tokenizer() -> Any:
    """Bytes, one merge (two spaces: a GGUF reader wants one at least) and ChatML's marks."""
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers
    from transformers import PreTrainedTokenizerFast

    words = [*sorted(pre_tokenizers.ByteLevel.alphabet()), "ĠĠ"]
    made = Tokenizer(models.BPE(vocab={c: i for i, c in enumerate(words)}, merges=[("Ġ", "Ġ")]))
    made.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    made.decoder = decoders.ByteLevel()
    tokenizer = PreTrainedTokenizerFast(
        tokenizer_object=made, eos_token="<|im_end|>", pad_token="<|pad|>"
    )
    tokenizer.add_special_tokens({"additional_special_tokens": ["<|im_start|>", "<|endoftext|>"]})
    tokenizer.chat_template = CHATML
    return tokenizer


def qwen_model(tokenizer: Any, seed: int = 0) -> Any:
    """Two layers of width 64, random, with the weights spread so that replies differ."""
    import torch
    from transformers import Qwen2Config, Qwen2ForCausalLM

    torch.manual_seed(seed)
    config = Qwen2Config(
        vocab_size=len(tokenizer),
        hidden_size=64,
        intermediate_size=96,
        num_hidden_layers=2,
        num_attention_heads=4,
        num_key_value_heads=2,
        max_position_embeddings=2048,
        tie_word_embeddings=False,
        eos_token_id=tokenizer.eos_token_id,
        pad_token_id=tokenizer.pad_token_id,
        bos_token_id=None,
        initializer_range=0.2,
    )
    model = Qwen2ForCausalLM(config).eval()
    # half a character is never most likely: llama.cpp keeps it back until the other half comes
    halves = [i for i in range(len(tokenizer)) if not tokenizer.decode([i]).isascii()]
    with torch.no_grad():
        model.lm_head.weight[halves] *= 0.01
    return model


def write_gguf(model: Any, tokenizer: Any, path: Path) -> Path:
    """The model in float32 with its tokenizer."""
    import gguf

    c = model.config
    writer = gguf.GGUFWriter(path, "qwen2")
    writer.add_name("tiny")
    writer.add_context_length(c.max_position_embeddings)
    writer.add_embedding_length(c.hidden_size)
    writer.add_block_count(c.num_hidden_layers)
    writer.add_feed_forward_length(c.intermediate_size)
    writer.add_head_count(c.num_attention_heads)
    writer.add_head_count_kv(c.num_key_value_heads)
    writer.add_layer_norm_rms_eps(c.rms_norm_eps)
    writer.add_rope_freq_base(c.rope_parameters["rope_theta"])
    writer.add_file_type(gguf.LlamaFileType.ALL_F32)
    _write_tokenizer(writer, tokenizer)
    names = gguf.get_tensor_name_map(gguf.MODEL_ARCH.QWEN2, c.num_hidden_layers)
    for name, tensor in model.state_dict().items():
        found = names.get_name(name, try_suffixes=(".weight", ".bias"))
        assert found is not None, name
        writer.add_tensor(found, tensor.float().numpy())
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    return path


def _write_tokenizer(writer: Any, tokenizer: Any) -> None:
    import gguf

    special = set(tokenizer.all_special_ids) | set(tokenizer.get_added_vocab().values())
    tokens = [tokenizer.convert_ids_to_tokens(i) for i in range(len(tokenizer))]
    kinds = [
        gguf.TokenType.CONTROL if i in special else gguf.TokenType.NORMAL
        for i in range(len(tokens))
    ]
    writer.add_tokenizer_model("gpt2")
    writer.add_tokenizer_pre("qwen2")
    writer.add_token_list(tokens)
    writer.add_token_types(kinds)
    writer.add_token_merges(["Ġ Ġ"])
    writer.add_eos_token_id(tokenizer.eos_token_id)
    writer.add_pad_token_id(tokenizer.pad_token_id)
    writer.add_add_bos_token(False)
    writer.add_chat_template(tokenizer.chat_template)


def make_adapter(model: Any, seed: int = 1, **settings: Any) -> Any:
    """The model with a random LoRA that changes most of what it says."""
    import torch
    from peft import LoraConfig, get_peft_model

    chosen = {"r": 8, "lora_alpha": 16, "target_modules": "all-linear", **settings}
    made = get_peft_model(
        model, LoraConfig(task_type="CAUSAL_LM", exclude_modules="lm_head", **chosen)
    )
    drawn = torch.Generator().manual_seed(seed)
    for name, weight in made.named_parameters():
        if "lora_B" in name:
            weight.data = torch.randn(weight.shape, generator=drawn) * 0.1
    return made.eval()
