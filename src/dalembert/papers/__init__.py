"""The examples of the papers that this library stands on: models, and their printed figures beside ours."""
