// SPDX-License-Identifier: Apache-2.0

// The engine: text/template with sprig's functions and those that helm adds, which do here what they
// do in helm.sh/helm/v3/pkg/engine (engine.go, funcs.go, lookup_func.go).
package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"sort"
	"strings"
	"text/template"

	"github.com/Masterminds/sprig"
	"sigs.k8s.io/yaml"
)

// As deep as helm lets a template include itself.
const recursionMax = 1000

func toYAML(value interface{}) string {
	text, err := yaml.Marshal(value)
	if err != nil {
		return "" // helm swallows it as well
	}
	return strings.TrimSuffix(string(text), "\n")
}

func toJSON(value interface{}) string {
	text, err := json.Marshal(value)
	if err != nil {
		return ""
	}
	return string(text)
}

// A mistake becomes a map with the key Error, as with helm.
func fromYAML(text string) map[string]interface{} {
	found := map[string]interface{}{}
	if err := yaml.Unmarshal([]byte(text), &found); err != nil {
		found["Error"] = err.Error()
	}
	return found
}

func fromYAMLArray(text string) []interface{} {
	found := []interface{}{}
	if err := yaml.Unmarshal([]byte(text), &found); err != nil {
		return []interface{}{err.Error()}
	}
	return found
}

func required(message string, value interface{}) (interface{}, error) {
	if value == nil || value == "" {
		return value, errors.New(message)
	}
	return value, nil
}

// Objects are what the cluster has.
type Objects []map[string]interface{}

// As helm's: an object by its name, nothing where there is none; without a name, a list of all in the
// namespace.
func (o Objects) lookup(version, kind, namespace, name string) (map[string]interface{}, error) {
	items := []interface{}{}
	for _, object := range o {
		metadata, _ := object["metadata"].(map[string]interface{})
		if object["apiVersion"] != version || object["kind"] != kind ||
			metadata["namespace"] != namespace {
			continue
		}
		if metadata["name"] == name {
			return object, nil
		}
		items = append(items, object)
	}
	if name == "" && len(o) > 0 {
		return map[string]interface{}{"items": items}, nil
	}
	return map[string]interface{}{}, nil
}

func functions(objects Objects) template.FuncMap {
	known := sprig.TxtFuncMap()
	delete(known, "env") // not for templates: they would see the environment of who installs
	delete(known, "expandenv")
	known["toYaml"] = toYAML
	known["fromYaml"] = fromYAML
	known["fromYamlArray"] = fromYAMLArray
	known["toJson"] = toJSON
	known["fromJson"] = fromYAML // JSON is YAML
	known["fromJsonArray"] = fromYAMLArray
	known["required"] = required
	known["lookup"] = objects.lookup
	known["fail"] = func(message string) (string, error) { return "", errors.New(message) }
	known["getHostByName"] = func(string) string { return "" }
	return known
}

// The functions that need the templates: they are of one set.
func withTemplates(set *template.Template) template.FuncMap {
	depth := map[string]int{}
	include := func(name string, data interface{}) (string, error) {
		var out strings.Builder
		if depth[name]++; depth[name] > recursionMax {
			return "", fmt.Errorf("rendering template has a nested reference name: %s", name)
		}
		defer func() { depth[name]-- }()
		err := set.ExecuteTemplate(&out, name, data)
		return out.String(), err
	}
	tpl := func(text string, data interface{}) (string, error) {
		var out strings.Builder
		clone, err := set.Clone()
		if err != nil {
			return "", err
		}
		clone.Funcs(withTemplates(clone))
		parsed, err := clone.New("tpl").Parse(text)
		if err != nil {
			return "", err
		}
		err = parsed.Execute(&out, data)
		return strings.ReplaceAll(out.String(), "<no value>", ""), err
	}
	return template.FuncMap{"include": include, "tpl": tpl}
}

func (c *Chart) templateNames() []string {
	var names []string
	for name := range c.Templates {
		names = append(names, name)
	}
	sort.Strings(names)
	return names
}

func isPartial(name string) bool {
	return strings.HasPrefix(name[strings.LastIndex(name, "/")+1:], "_")
}

// What every template that is no partial becomes, by its name below the chart's.
func (c *Chart) render(data map[string]interface{}, objects Objects) (map[string]string, error) {
	set := template.New("gotpl").Option("missingkey=zero").Funcs(functions(objects))
	set.Funcs(withTemplates(set))
	for _, name := range c.templateNames() {
		if _, err := set.New(c.Metadata.Name + "/" + name).Parse(c.Templates[name]); err != nil {
			return nil, err
		}
	}
	rendered := map[string]string{}
	for _, name := range c.templateNames() {
		if isPartial(name) {
			continue
		}
		var out strings.Builder
		full := c.Metadata.Name + "/" + name
		data["Template"] = map[string]interface{}{
			"Name": full, "BasePath": c.Metadata.Name + "/templates"}
		if err := set.ExecuteTemplate(&out, full, data); err != nil {
			return nil, err
		}
		// helm: missingkey=zero prints this for a value of no type
		rendered[full] = strings.ReplaceAll(out.String(), "<no value>", "")
	}
	return rendered, nil
}
