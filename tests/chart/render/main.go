// SPDX-License-Identifier: Apache-2.0

// Renders a Helm chart as "helm template" does, where no helm is to be had: what it is made of,
// text/template and sprig, Debian has. No subcharts, and of a cluster only the objects of a file;
// values are not held to their schema here. What it makes of our chart is compared with a real helm
// wherever there is one.
//
//	render [OPTION...] CHART <VALUES >MANIFESTS
//
// The values come on standard input, as YAML. With --notes, NOTES.txt is all that is written.
package main

import (
	"flag"
	"fmt"
	"io"
	"os"
	"sort"
	"strings"

	"github.com/Masterminds/semver"
	"sigs.k8s.io/yaml"
)

// KubeVersion is .Capabilities.KubeVersion.
type KubeVersion struct {
	Version string
	Major   string
	Minor   string
}

func (k KubeVersion) String() string { return k.Version }

// GitVersion is what older charts call it.
func (k KubeVersion) GitVersion() string { return k.Version }

// VersionSet is .Capabilities.APIVersions.
type VersionSet []string

func (v VersionSet) Has(wanted string) bool {
	for _, version := range v {
		if version == wanted {
			return true
		}
	}
	return false
}

// Capabilities is .Capabilities.
type Capabilities struct {
	KubeVersion KubeVersion
	APIVersions VersionSet
}

// Values laid over the chart's own: maps are merged, null takes a key away, all else replaces.
func overlay(base, over map[string]interface{}) map[string]interface{} {
	for key, value := range over {
		below, isMap := base[key].(map[string]interface{})
		above, bothAre := value.(map[string]interface{})
		switch {
		case value == nil:
			delete(base, key)
		case isMap && bothAre:
			base[key] = overlay(below, above)
		default:
			base[key] = value
		}
	}
	return base
}

type options struct {
	release, namespace, kubeVersion, apiVersions, objects string
	upgrade, notes                                        bool
}

func (o *options) data(chart *Chart, values map[string]interface{}) (map[string]interface{}, error) {
	version, err := semver.NewVersion(o.kubeVersion)
	if err != nil {
		return nil, fmt.Errorf("--kube-version %s: %w", o.kubeVersion, err)
	}
	return map[string]interface{}{
		"Chart":     chart.Metadata,
		"Files":     chart.Files,
		"Values":    overlay(chart.Values, values),
		"Subcharts": map[string]interface{}{},
		"Release": map[string]interface{}{
			"Name": o.release, "Namespace": o.namespace, "Revision": 1, "Service": "Helm",
			"IsInstall": !o.upgrade, "IsUpgrade": o.upgrade},
		"Capabilities": Capabilities{
			KubeVersion: KubeVersion{"v" + version.String(), fmt.Sprint(version.Major()),
				fmt.Sprint(version.Minor())},
			APIVersions: strings.Split(o.apiVersions, ",")},
	}, nil
}

// Manifests in the order of their names; those that became empty are left out.
func write(rendered map[string]string, notes bool) {
	var names []string
	for name := range rendered {
		names = append(names, name)
	}
	sort.Strings(names)
	for _, name := range names {
		isNotes := strings.HasSuffix(name, "NOTES.txt")
		if text := strings.TrimSpace(rendered[name]); isNotes && notes {
			fmt.Println(text)
		} else if !isNotes && !notes && text != "" {
			fmt.Printf("---\n# Source: %s\n%s\n", name, strings.TrimPrefix(text, "---\n"))
		}
	}
}

func run(o *options, folder string) error {
	values := map[string]interface{}{}
	input, err := io.ReadAll(os.Stdin)
	if err == nil {
		err = yaml.Unmarshal(input, &values)
	}
	if err != nil {
		return fmt.Errorf("values: %w", err)
	}
	chart, err := readChart(folder)
	if err != nil {
		return err
	}
	if err := chart.checkKubeVersion(o.kubeVersion); err != nil {
		return err
	}
	data, err := o.data(chart, values)
	if err != nil {
		return err
	}
	objects := Objects{}
	if o.objects != "" {
		err = readYAML(o.objects, &objects)
	}
	if err != nil {
		return err
	}
	rendered, err := chart.render(data, objects)
	if err != nil {
		return err
	}
	write(rendered, o.notes)
	return nil
}

func main() {
	o := &options{}
	flag.StringVar(&o.release, "release", "rel", "name of the release")
	flag.StringVar(&o.namespace, "namespace", "default", "its namespace")
	flag.StringVar(&o.kubeVersion, "kube-version", "1.28.0", "version of the cluster")
	flag.StringVar(&o.apiVersions, "api-versions", "", "what it serves, with commas")
	flag.StringVar(&o.objects, "objects", "", "file with a list of what the cluster has, for lookup")
	flag.BoolVar(&o.upgrade, "is-upgrade", false, "not the first revision")
	flag.BoolVar(&o.notes, "notes", false, "write NOTES.txt")
	flag.Parse()
	if flag.NArg() != 1 {
		fmt.Fprintln(os.Stderr, "usage: render [OPTION...] CHART <VALUES >MANIFESTS")
		os.Exit(2)
	}
	if err := run(o, flag.Arg(0)); err != nil {
		fmt.Fprintln(os.Stderr, "Error:", err)
		os.Exit(1)
	}
}
