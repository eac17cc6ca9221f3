// Writes the reference of a Go package as a page in Markdown, from its comments:
//
//	go run go_reference.go SOURCES IMPORT-PATH >PAGE.md
package main

import (
	"bytes"
	"fmt"
	"go/ast"
	"go/build"
	"go/doc"
	"go/doc/comment"
	"go/format"
	"go/parser"
	"go/printer"
	"go/token"
	"log"
	"os"
	"path/filepath"
	"strings"
)

type page struct {
	files   *token.FileSet
	content *doc.Package
}

func (p page) text(comments string) {
	markdown := p.content.Printer()
	markdown.HeadingLevel = 3
	markdown.HeadingID = func(*comment.Heading) string { return "" }
	markdown.DocLinkURL = func(*comment.DocLink) string { return "" }
	fmt.Printf("%s\n", markdown.Markdown(p.content.Parser().Parse(comments)))
}

func (p page) code(node any) {
	var buffer bytes.Buffer
	if err := format.Node(&buffer, p.files, node); err != nil {
		log.Fatal(err)
	}
	text := buffer.String()
	if strings.HasPrefix(text, "{") { // the body of an example
		text = strings.TrimSpace(strings.ReplaceAll(strings.Trim(text, "{}"), "\n\t", "\n"))
	}
	fmt.Printf("```go\n%s\n```\n\n", text)
}

func (p page) values(values []*doc.Value) {
	for _, value := range values {
		p.code(value.Decl)
		p.text(value.Doc)
	}
}

func (p page) functions(functions []*doc.Func) {
	for _, function := range functions {
		fmt.Printf("### %s\n\n", function.Name)
		p.code(function.Decl)
		p.text(function.Doc)
		p.examples(function.Examples)
	}
}

func (p page) examples(examples []*doc.Example) {
	for _, example := range examples {
		fmt.Printf("Example:\n\n")
		p.code(&printer.CommentedNode{Node: example.Code, Comments: example.Comments})
	}
}

func main() {
	log.SetFlags(0)
	folder, path := os.Args[1], os.Args[2]
	chosen, err := build.Default.ImportDir(folder, 0)
	if err != nil {
		log.Fatal(err)
	}
	p := page{files: token.NewFileSet()}
	var parsed []*ast.File
	for _, name := range append(append(chosen.GoFiles, chosen.CgoFiles...), chosen.XTestGoFiles...) {
		file, err := parser.ParseFile(p.files, filepath.Join(folder, name), nil, parser.ParseComments)
		if err != nil {
			log.Fatal(err)
		}
		parsed = append(parsed, file)
	}
	p.content, err = doc.NewFromFiles(p.files, parsed, path)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("# Package %s\n\n```go\nimport %q\n```\n\n## Overview\n\n", p.content.Name, path)
	p.text(p.content.Doc)
	p.examples(p.content.Examples)
	if values := append(p.content.Consts, p.content.Vars...); len(values) > 0 {
		fmt.Printf("## Constants and variables\n\n")
		p.values(values)
	}
	if len(p.content.Funcs) > 0 {
		fmt.Printf("## Functions\n\n")
		p.functions(p.content.Funcs)
	}
	for _, one := range p.content.Types {
		fmt.Printf("## Type %s\n\n", one.Name)
		p.code(one.Decl)
		p.text(one.Doc)
		p.examples(one.Examples)
		p.values(append(one.Consts, one.Vars...))
		p.functions(append(one.Funcs, one.Methods...))
	}
}
