# SPDX-License-Identifier: Apache-2.0
"""One module for each framework, none of which is imported here: `interlock.adapters.langchain`, `.pydantic_ai`, `.openai_agents`, `.google_adk`, `.llama_index`, `.mcp`.

Each puts a gate at the last metre: the call is decided right before the tool's function runs, one call of a session at a time, and its result is
recorded before the framework sees it. `pip install "interlock[langchain]"` and so on name the versions that they are tested with.
"""
