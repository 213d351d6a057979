# What OpenBench calls: `make EXE=name` builds the engine for this very processor and leaves the
# program `name` here. For anything else `cargo build --release` is enough.
EXE ?= meitner

# A folder of its own, so that the flags do not make every other build begin anew.
FOLDER := target/native

ifeq ($(OS),Windows_NT)
BUILT := $(FOLDER)/release/meitner.exe
else
BUILT := $(FOLDER)/release/meitner
endif

export RUSTFLAGS := $(RUSTFLAGS) -C target-cpu=native

.PHONY: all clean
all:
	cargo build --release --locked --bin meitner --target-dir $(FOLDER)
	cp $(BUILT) $(EXE)

clean:
	rm -rf $(FOLDER)
