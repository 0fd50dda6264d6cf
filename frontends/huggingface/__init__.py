"""GPT-2 folders as Hugging Face's transformers writes them: config.json and safetensors files."""

from .config import Config
from .folder import Folder, from_huggingface, read

__all__ = ["Config", "Folder", "from_huggingface", "read"]
