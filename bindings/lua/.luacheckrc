-- The library uses what all Luas have in common; its tests also what some have.
std = "min"
max_line_length = 100
files["examples/nginx"] = {std = "min", globals = {"ngx"}}
files["tests"] = {std = "max"}
files["tests/examples_test.lua"] = {globals = {"print", "arg"}}
