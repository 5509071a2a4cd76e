"""Files: the model file (YAML) and its JSON Schema."""

from dalembert.io.model_file import load_model, model_from_text, model_to_text, read_model_file, save_model
from dalembert.io.reader import ModelSource
from dalembert.io.schema import model_schema

__all__ = ["ModelSource", "load_model", "model_from_text", "model_schema", "model_to_text", "read_model_file", "save_model"]
