// SPDX-License-Identifier: Apache-2.0

// What a chart is on disk, and what its templates see of it. The fields and methods are named as
// helm's, since templates call them by name: helm.sh/helm/v3/pkg/chart, pkg/engine/files.go.
package main

import (
	"encoding/base64"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"strings"

	"github.com/Masterminds/semver"
	"sigs.k8s.io/yaml"
)

// Metadata is .Chart; a field that helm does not know is an error of the template, as with helm.
type Metadata struct {
	Name        string            `json:"name"`
	Home        string            `json:"home"`
	Version     string            `json:"version"`
	Description string            `json:"description"`
	Keywords    []string          `json:"keywords"`
	APIVersion  string            `json:"apiVersion"`
	AppVersion  string            `json:"appVersion"`
	KubeVersion string            `json:"kubeVersion"`
	Type        string            `json:"type"`
	Annotations map[string]string `json:"annotations"`
}

// Files is .Files: all of the chart but its templates and what is read otherwise.
type Files map[string][]byte

func (f Files) GetBytes(name string) []byte { return f[name] }
func (f Files) Get(name string) string      { return string(f[name]) }

func (f Files) Glob(pattern string) Files {
	found := Files{}
	for name, content := range f {
		if fits, _ := path.Match(pattern, name); fits {
			found[name] = content
		}
	}
	return found
}

func (f Files) Lines(name string) []string {
	return strings.Split(strings.TrimSuffix(string(f[name]), "\n"), "\n")
}

func (f Files) AsConfig() string {
	return toYAML(f.byBase(func(content []byte) string { return string(content) }))
}

func (f Files) AsSecrets() string {
	return toYAML(f.byBase(base64.StdEncoding.EncodeToString))
}

func (f Files) byBase(encode func([]byte) string) map[string]string {
	found := map[string]string{}
	for name, content := range f {
		found[path.Base(name)] = encode(content)
	}
	return found
}

// Chart is a folder that was read.
type Chart struct {
	Metadata  Metadata
	Values    map[string]interface{}
	Templates map[string]string // by the path below the folder
	Files     Files
}

func isReadOtherwise(name string) bool {
	return name == "Chart.yaml" || name == "values.yaml" || name == "values.schema.json" ||
		name == ".helmignore"
}

// One name or pattern a line; negation and folders are not used here.
func ignored(folder string) ([]string, error) {
	content, err := os.ReadFile(filepath.Join(folder, ".helmignore"))
	if os.IsNotExist(err) {
		return nil, nil
	}
	var patterns []string
	for _, line := range strings.Split(string(content), "\n") {
		if line != "" && !strings.HasPrefix(line, "#") {
			patterns = append(patterns, line)
		}
	}
	return patterns, err
}

func fitsAny(patterns []string, name string) bool {
	for _, pattern := range patterns {
		if fits, _ := path.Match(pattern, path.Base(name)); fits {
			return true
		}
	}
	return false
}

func (c *Chart) add(name string, content []byte) {
	if strings.HasPrefix(name, "templates/") {
		c.Templates[name] = string(content)
	} else if !isReadOtherwise(name) {
		c.Files[name] = content
	}
}

func readYAML(file string, into interface{}) error {
	content, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	if err := yaml.Unmarshal(content, into); err != nil {
		return fmt.Errorf("%s: %w", file, err)
	}
	return nil
}

func readChart(folder string) (*Chart, error) {
	chart := &Chart{Templates: map[string]string{}, Files: Files{}}
	if err := readYAML(filepath.Join(folder, "Chart.yaml"), &chart.Metadata); err != nil {
		return nil, err
	}
	if err := readYAML(filepath.Join(folder, "values.yaml"), &chart.Values); err != nil {
		return nil, err
	}
	patterns, err := ignored(folder)
	if err != nil {
		return nil, err
	}
	return chart, filepath.Walk(folder, func(file string, info os.FileInfo, err error) error {
		if err != nil || info.IsDir() {
			return err
		}
		name, _ := filepath.Rel(folder, file)
		content, err := os.ReadFile(file)
		if err == nil && !fitsAny(patterns, name) {
			chart.add(name, content)
		}
		return err
	})
}

// Does the chart want to be installed in a cluster of this version?
func (c *Chart) checkKubeVersion(version string) error {
	constraint, err := semver.NewConstraint(c.Metadata.KubeVersion)
	if err != nil {
		return fmt.Errorf("kubeVersion %q: %w", c.Metadata.KubeVersion, err)
	}
	parsed, err := semver.NewVersion(version)
	if err != nil {
		return fmt.Errorf("version %q: %w", version, err)
	}
	if !constraint.Check(parsed) {
		return fmt.Errorf("chart requires kubeVersion: %s which is incompatible with Kubernetes %s",
			c.Metadata.KubeVersion, version)
	}
	return nil
}
