#!/bin/sh
# Builds the program that plugin.yaml names.
cd "$(dirname "$0")" && swiftc -O main.swift -o main
