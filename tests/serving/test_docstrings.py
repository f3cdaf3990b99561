"""Docstrings in every style: parameters go into the schema, all else stays the tool's description."""

from typing import Annotated

import pytest
from pydantic import Field

import toolwire
from toolwire import Tool

GOOGLE = """Find orders.

    They are sorted by date:
    newest first.

    Args:
        city (str): Where to look,
            in any spelling.
        days: How many.

    Returns:
        The orders.

    Raises:
        ValueError: Never.

    Example:
        find("Oslo")
    """
NUMPY = """Find orders.

    They are sorted by date:
    newest first.

    Parameters
    ----------
    city : str
        Where to look,
        in any spelling.
    days : int, optional
        How many.

    Raises
    ------
    ValueError
        Never.

    Returns
    -------
    list
        The orders.
    """
SPHINX = """Find orders.

    They are sorted by date:
    newest first.

    :param city: Where to look,
        in any spelling.
    :type city: str
    :param int days: How many.
    :raises ValueError: Never.
    :rtype: list
    """
HEAD = "Find orders.\n\nThey are sorted by date:\nnewest first."


def documented(docstring: str) -> Tool:
    def find(city: str, days: int = 1) -> str:
        return f"{city}{days}"

    find.__doc__ = docstring
    return toolwire.tool(find)


@pytest.mark.parametrize(
    ("docstring", "rest"),
    [
        (GOOGLE, '\n\nReturns:\n    The orders.\n\nExample:\n    find("Oslo")'),
        (NUMPY, "\n\nReturns\n-------\nlist\n    The orders."),
        (SPHINX, ""),
    ],
    ids=["google", "numpy", "sphinx"],
)
def test_parameters_are_described_in_the_schema_and_the_rest_is_the_description(docstring: str, rest: str) -> None:
    tool = documented(docstring)
    assert tool.description == HEAD + rest
    described = {name: schema.description for name, schema in tool.input_schema.properties.items()}
    assert described == {"city": "Where to look, in any spelling.", "days": "How many."}


@pytest.mark.parametrize(
    "docstring",
    [
        "",
        "One line.",
        "Prose: with a colon, and another: one.",
        "First.\n\n:class:`Order` is what comes back, see\n:meth:`find`.",
        "city: this is prose, no section.\n\nNote: days are days.",
        "Parameters are free.\n\nReturns nothing.",
        "A list:\n\n- Args\n- Raises",
        "Example::\n\n    Args:\n        city: in an example\n\n    :param days: too\n\nDone.",
        "Find.\n\nArguments:\n  city -- in no style\n  days -- that is known",
    ],
)
def test_prose_is_left_as_it_was_written(docstring: str) -> None:
    tool = documented(docstring)
    assert tool.description == docstring
    assert all(schema.description == "" for schema in tool.input_schema.properties.values())


@pytest.mark.parametrize(
    ("docstring", "rest"),
    [
        ("Args:\n    city: The city.\n    days: The days.", ""),
        ("Args:\n    city: The city.\n    days: The days.\n\nReturns:\n    Text.", "Returns:\n    Text."),
        ("Find.\n\nKeyword Args:\n    days: The days.\n\nArgs:\n    city: The city.", "Find."),
        ("Find.\n\nOther Parameters:\n    days: The days.\n\nArgs:\n    city: The city.", "Find."),
        ("Find.\n\nArgs:\n    - city: The city.\n    * days: The days.", "Find."),
    ],
)
def test_sections_in_odd_places_are_read(docstring: str, rest: str) -> None:
    tool = documented(docstring)
    assert tool.description == rest
    described = {name: schema.description for name, schema in tool.input_schema.properties.items()}
    assert described == {"city": "The city.", "days": "The days."}


def test_parameters_that_numpy_names_together_share_a_description() -> None:
    tool = documented("Find.\n\nParameters\n----------\ncity, days : str\n    Both.\n")
    assert [schema.description for schema in tool.input_schema.properties.values()] == ["Both.", "Both."]


@pytest.mark.parametrize("name", ["class_", "class"])
def test_a_docstring_may_name_an_aliased_parameter_by_either_name(name: str) -> None:
    def find(class_: Annotated[str, Field(alias="class")]) -> str:
        return class_

    find.__doc__ = f"Find.\n\nArgs:\n    {name}: The class."
    assert toolwire.tool(find).input_schema.properties["class"].description == "The class."


def test_what_an_annotation_says_wins_over_the_docstring() -> None:
    def find(
        city: Annotated[str, Field(description="by annotation")], days: int = Field(3, description="by default")
    ) -> str:
        """Find.

        Args:
            city: by docstring
            days: by docstring
        """
        return f"{city}{days}"

    described = {name: schema.description for name, schema in toolwire.tool(find).input_schema.properties.items()}
    assert described == {"city": "by annotation", "days": "by default"}


def test_a_description_that_is_given_is_the_description() -> None:
    def find(city: str) -> str:
        """Not this."""
        return city

    assert toolwire.tool(find, description="Given.").description == "Given."
    assert toolwire.tool(find, description="").description == ""
