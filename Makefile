# What OpenBench calls: `make EXE=name` builds the engine for this very processor and leaves the
# program `name` here. For anything else `cargo build --release` is enough.
#
# Where the toolchain has its component `llvm-tools` (`rustup component add llvm-tools`), the build is
# guided by a profile of the program's own benchmark, which makes the search faster.
EXE ?= meitner

# Folders of their own, so that the flags do not make every other build begin anew.
FOLDER := target/native
PROFILE := target/profile

ifeq ($(OS),Windows_NT)
NAME := meitner.exe
else
NAME := meitner
endif

SYSROOT := $(shell rustc --print sysroot)
HOST := $(shell rustc -vV | sed -n 's/^host: //p')
PROFDATA := $(wildcard $(SYSROOT)/lib/rustlib/$(HOST)/bin/llvm-profdata*)
# With `--target` the flags reach the program alone, not the build scripts and macros.
BUILD := cargo build --release --locked --bin meitner --target $(HOST)
NATIVE := $(RUSTFLAGS) -C target-cpu=native

.PHONY: all clean
ifeq ($(PROFDATA),)
all:
	RUSTFLAGS="$(NATIVE)" $(BUILD) --target-dir $(FOLDER)
	cp $(FOLDER)/$(HOST)/release/$(NAME) $(EXE)
else
all:
	rm -rf $(PROFILE)/raw
	RUSTFLAGS="$(NATIVE) -C profile-generate=$(CURDIR)/$(PROFILE)/raw" $(BUILD) --target-dir $(PROFILE)
	$(PROFILE)/$(HOST)/release/$(NAME) bench
	"$(PROFDATA)" merge -o $(PROFILE)/merged.profdata $(PROFILE)/raw
	RUSTFLAGS="$(NATIVE) -C profile-use=$(CURDIR)/$(PROFILE)/merged.profdata" $(BUILD) --target-dir $(FOLDER)
	cp $(FOLDER)/$(HOST)/release/$(NAME) $(EXE)
endif

clean:
	rm -rf $(FOLDER) $(PROFILE)
