"""franz-go's own sticky algorithm: even first, then as sticky as can be; ties follow the order of Go's maps.

Steps, a module each: claims → fresh partitions dealt → steals along shortest chains → exchanges that keep more.
"""
