"""The packaged defaults: annotated TOML files and prompts, read as resources."""
