"""contract.py - checks that an OpenAPI 3.1 document is well formed, gives its examples, and checks that answers satisfy
it.

    contract = Contract(document)
    for operation in contract.operations:
        for query, media, body in operation.examples(): …
        operation.check(answer)
"""
import json
import re

import jsonschema

METHODS = ("get", "put", "post", "delete")
# Answers with these statuses are described only under "default".
OTHER_STATUSES = {413, 414, 421, 429, 500}
# An answer for a browser needs no example.
PAGE = {"text/html", "text/css", "text/javascript", "image/svg+xml", "image/png"}

# The part of OpenAPI 3.1 that this contract uses, closed: a misspelt key is found.
SHAPE = {
    "$ref": "#/$defs/document",
    "$defs": {
        "text": {"type": "string", "minLength": 1},
        "ref": {"type": "object", "properties": {"$ref": {"pattern": "^#/components/"}}, "required": ["$ref"],
                "additionalProperties": False},
        "document": {
            "type": "object", "required": ["openapi", "info", "servers", "paths", "components"],
            "properties": {"openapi": {"const": "3.1.0"}, "info": {"required": ["title", "version", "license"]}, "servers": {},
                           "tags": {}, "security": {},
                           "paths": {"patternProperties": {"^/": {"$ref": "#/$defs/path"}}, "additionalProperties": False},
                           "components": {"properties": {
                               "securitySchemes": {}, "schemas": {},
                               "headers": {"additionalProperties": {"$ref": "#/$defs/header"}},
                               "parameters": {"additionalProperties": {"$ref": "#/$defs/parameter"}},
                               "responses": {"additionalProperties": {"$ref": "#/$defs/response"}}},
                               "additionalProperties": False}},
            "additionalProperties": False},
        "path": {"properties": {"parameters": {"$ref": "#/$defs/parameters"},
                                **{method: {"$ref": "#/$defs/operation"} for method in METHODS}},
                 "additionalProperties": False},
        "parameters": {"type": "array", "items": {"anyOf": [{"$ref": "#/$defs/ref"}, {"$ref": "#/$defs/parameter"}]}},
        "operation": {
            "required": ["tags", "operationId", "summary", "responses"],
            "properties": {"tags": {"type": "array", "minItems": 1}, "operationId": {"$ref": "#/$defs/text"},
                           "summary": {"$ref": "#/$defs/text"}, "description": {"$ref": "#/$defs/text"},
                           "parameters": {"$ref": "#/$defs/parameters"}, "security": {"type": "array"},
                           "requestBody": {"required": ["content"], "properties": {
                               "required": {"type": "boolean"}, "description": {}, "content": {"$ref": "#/$defs/content"}},
                               "additionalProperties": False},
                           "responses": {
                               "patternProperties": {"^([2-5][0-9]{2}|default)$": {
                                   "anyOf": [{"$ref": "#/$defs/ref"}, {"$ref": "#/$defs/response"}]}},
                               "required": ["default"], "additionalProperties": False}},
            "additionalProperties": False},
        "response": {"required": ["description"], "properties": {
            "description": {"$ref": "#/$defs/text"}, "content": {"$ref": "#/$defs/content"},
            "headers": {"additionalProperties": {"anyOf": [{"$ref": "#/$defs/ref"}, {"$ref": "#/$defs/header"}]}}},
            "additionalProperties": False},
        "header": {"required": ["schema"], "properties": {"schema": {}, "description": {}}, "additionalProperties": False},
        "content": {"minProperties": 1, "additionalProperties": {
            "required": ["schema"], "properties": {"schema": {}, "example": {}}, "additionalProperties": False}},
        "parameter": {"required": ["name", "in", "schema"], "properties": {
            "name": {"$ref": "#/$defs/text"}, "in": {"enum": ["path", "query"]}, "required": {"type": "boolean"},
            "description": {"$ref": "#/$defs/text"}, "schema": {}, "example": {}}, "additionalProperties": False},
    },
}


class Answer:
    def __init__(self, status, headers, text):
        self.status, self.headers, self.text = status, headers, text

    def json(self):
        return json.loads(self.text, parse_constant=lambda word: (_ for _ in ()).throw(ValueError(word + " is no JSON")))


class Contract:
    def __init__(self, document):
        self.document = document
        self.operations = [Operation(self, path, method) for path, item in document["paths"].items()
                           for method in METHODS if method in item]

    def resolve(self, node):
        if "$ref" not in node:
            return node
        found = self.document
        for name in node["$ref"].removeprefix("#/").split("/"):
            found = found[name]
        return found

    def validate(self, schema, value, where):
        whole = {"$schema": "https://json-schema.org/draft/2020-12/schema", "components": self.document["components"],
                 "allOf": [schema]}
        error = jsonschema.exceptions.best_match(jsonschema.Draft202012Validator(whole).iter_errors(value))
        assert error is None, f"{where}: {error.json_path}: {error.message}"

    def check_shape(self):
        """The document is OpenAPI, its schemas are JSON Schemas that state whether they are closed, its examples
        satisfy them.
        """
        error = jsonschema.exceptions.best_match(jsonschema.Draft202012Validator(SHAPE).iter_errors(self.document))
        assert error is None, f"the contract: {error.json_path}: {error.message}"
        ids = [operation.id for operation in self.operations]
        assert len(set(ids)) == len(ids), "an operationId is there twice"
        tags = {tag["name"] for tag in self.document["tags"]}
        assert tags == {tag for operation in self.operations for tag in operation.tags}, "tags that are not described, or not used"
        count = 0
        for schema in self.document["components"]["schemas"].values():
            jsonschema.Draft202012Validator.check_schema(schema)
        for where, node in walk(self.document):
            open_part = "/allOf" in where  # the schema around it says so
            assert "properties" not in node or open_part or "additionalProperties" in node, \
                f"{where}: has properties and does not say whether it may have others"
            if "schema" in node:
                jsonschema.Draft202012Validator.check_schema(node["schema"])
            if "example" in node:
                self.validate(node["schema"] if "schema" in node else node, node["example"], f"the example of {where}")
                count += 1
        return count


def walk(node, where=""):
    """Every object in it that is no map of names, with its place; examples are left out."""
    if isinstance(node, dict):
        if not where.endswith("/properties"):
            yield where, node
        for key, value in node.items():
            if key != "example":
                yield from walk(value, f"{where}/{key}")
    elif isinstance(node, list):
        for k, value in enumerate(node):
            yield from walk(value, f"{where}/{k}")


class Operation:
    def __init__(self, contract, path, method):
        item = contract.document["paths"][path]
        node = item[method]
        self.contract, self.path, self.method, self.id = contract, path, method.upper(), node["operationId"]
        parameters = [contract.resolve(p) for p in item.get("parameters", []) + node.get("parameters", [])]
        self.in_path = {p["name"]: p for p in parameters if p["in"] == "path"}
        self.in_query = {p["name"]: p for p in parameters if p["in"] == "query"}
        self.body, self.tags = node.get("requestBody", {}), node["tags"]
        self.responses = {status: contract.resolve(response) for status, response in node["responses"].items()}
        self.writes = node.get("security") == [{"token": []}]

    def __str__(self):
        return f"{self.method} {self.path}"

    def path_with(self, **ids):
        """The path with the ids given, else with those of the examples."""
        return re.sub(r"\{(\w+)\}", lambda m: str(ids.get(m[1], self.in_path[m[1]].get("example"))), self.path)

    def values(self, name):
        """The example of a query parameter."""
        parameter = self.in_query[name]
        schema = self.contract.resolve(parameter["schema"])
        shown = [parameter["example"]] if "example" in parameter else []
        return shown + schema.get("enum", [schema["default"]] if "default" in schema else [])

    def bodies(self):
        """(media type, text) of each example of a body; (None, None) where none is needed."""
        if not self.body.get("required"):
            yield None, None
        for media, content in self.body.get("content", {}).items():
            if "example" in content:
                example = content["example"]
                yield media, example if isinstance(example, str) else json.dumps(example)

    def lacks(self):
        """The reason why this operation has no example, or None."""
        for name, parameter in self.in_path.items():
            if "example" not in parameter:
                return f"parameter {name} has no example"
        for name, parameter in self.in_query.items():
            if not self.values(name) and name != "cursor":
                return f"parameter {name} has no example"
        for media, content in self.body.get("content", {}).items():
            if "example" not in content:
                return f"the body in {media} has no example"
        for status, response in self.responses.items():
            for media, content in response.get("content", {}).items():
                schema = self.contract.resolve(content["schema"])
                if status[0] == "2" and media not in PAGE and "example" not in content and "example" not in schema:
                    return f"its answer {status} in {media} has no example"
        return None

    def check(self, answer):
        """The answer is one that the contract declares: status, type of content, headers and body."""
        where = f"{self}: {answer.status} {answer.text[:200]!r}"
        response = self.responses.get(str(answer.status))
        if response is None:
            assert answer.status in OTHER_STATUSES, f"{where}: the contract declares no such answer"
            response = self.responses["default"]
        declared = {name.lower() for name in response.get("headers", {})}
        optional = {"link"} if str(answer.status) in self.responses else declared
        for name in ("etag", "location", "retry-after", "www-authenticate", "link"):
            assert name not in answer.headers or name in declared or answer.status == 304, f"{where}: header {name} is not declared"
            assert name in answer.headers or name not in declared or name in optional, f"{where}: header {name} is missing"
        if "content" not in response:
            assert answer.text == "", f"{where}: no body is declared"
            return
        media = answer.headers.get("content-type", "").split(";")[0]
        assert media in response["content"], f"{where}: {media} is not declared"
        value = answer.json() if media.endswith("json") else answer.text
        self.contract.validate(response["content"][media]["schema"], value, where)
