#!/bin/sh
# Builds the program that plugin.yaml names.
set -e
cd "$(dirname "$0")"
swift build -c release --product tint
ln -sf "$(swift build -c release --show-bin-path)/tint" tint
