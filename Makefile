# Evenkeel – one Makefile, discovery by folder. `make help` lists the targets.
#
# A file <folder>/main_<binary>.c becomes bin/<binary> (with _ as -); every other .c below a folder
# goes into that folder's archive; tests/test_*.c and tests/bench/*.c become programs of their own.
# Settings: config.mk (ignored by git) or the command line: CC= MARCH= OPT= SAN=address,undefined
# BUILD= (elsewhere: nothing is written into the tree) BIN= V=1 PREFIX= DESTDIR=
-include config.mk
# One job per core, unless the caller says how many.
ifeq ($(MAKELEVEL)$(findstring -j,$(shell echo " $$MAKEFLAGS")),0)
MAKEFLAGS += -j$(shell nproc)
endif

VERSION  := $(shell sed -n 's/^.define EK_VERSION "\(.*\)"/\1/p' src/version.h)
CC       ?= gcc
MARCH    ?=
OPT      ?= -O3
PREFIX   ?= /usr/local
SAN      ?=
comma    := ,
BUILD    ?= build$(if $(SAN),-$(subst $(comma),-,$(SAN)))
BIN      := $(if $(filter build,$(BUILD)),bin,$(BUILD)/bin)
REPORT   := $(if $(filter build,$(BUILD)),report,$(BUILD)/report)
V        ?= 0
Q        := $(if $(filter 1,$(V)),,@)
say       = $(if $(filter 1,$(V)),,@printf '  %-6s %s%s\n' '$(1)' '$(2)' '$(3)')

CORE     := src backends cu
PROGRAMS := $(filter-out $(CORE),$(sort $(patsubst %/,%,$(dir $(wildcard */main_*.c)))))
FOLDERS  := $(CORE) $(PROGRAMS)
PKGS     := hwloc jansson libffi ompi-c gsl libzmq
# Only for mcsem: sparse Cholesky factorization, and the BLAS it uses.
SOLVER_CFLAGS := $(shell pkg-config --cflags openblas 2>/dev/null)
# CHOLMOD needs libblas.so.3, which another package may have pointed at OpenBLAS's threaded variant; the
# linker checks against the one beside the OpenBLAS that is linked.
SOLVER_LIBS   := $(patsubst %,-Wl$(comma)-rpath-link$(comma)%,$(shell pkg-config --variable=libdir openblas 2>/dev/null)) \
 -Wl,--as-needed -lcholmod $(shell pkg-config --libs openblas 2>/dev/null || echo -lopenblas) -Wl,--no-as-needed
# Only for kirchhoff: Fourier transforms of traces.
WAVES_LIBS    := $(shell pkg-config --libs fftw3f 2>/dev/null || echo -lfftw3f)
PKG_CFLAGS := $(shell pkg-config --cflags $(PKGS) libxxhash 2>/dev/null)
PKG_LIBS   := $(shell pkg-config --libs $(PKGS) 2>/dev/null)

accepts   = $(shell $(CC) -Werror $(1) -E -x c /dev/null >/dev/null 2>&1 && echo $(1))
# Compilers for POWER call it -mcpu; some know neither.
march    := $(if $(MARCH),$(or $(call accepts,-march=$(MARCH)),$(call accepts,-mcpu=$(MARCH))))

WARN     := -Wall -Wextra -Wno-psabi -Wshadow -Wstrict-prototypes -Wmissing-prototypes -Wvla
CPPFLAGS += -I. -D_GNU_SOURCE -DCL_TARGET_OPENCL_VERSION=120
# Lines and functions for backtraces. Locations of variables would double the time of compilation.
CFLAGS   += -std=c11 -g1 $(OPT) $(march) -ffp-contract=fast -fno-math-errno -fopenmp $(WARN) $(PKG_CFLAGS)
LDFLAGS  += -fopenmp
LDLIBS   += $(PKG_LIBS) -lglpk -ldl -lm
ifneq ($(SAN),)
OPT      := -O1
CFLAGS   += -fsanitize=$(SAN) -fno-omit-frame-pointer -fno-sanitize-recover=undefined
LDFLAGS  += -fsanitize=$(SAN)
endif

# Examples use the installed library: tests/e2e/library.sh builds them.
sources   = $(filter-out cu/examples/% mcsem/examples/%,$(sort $(wildcard $(1)/*.c $(1)/*/*.c $(1)/*/*/*.c)))
kernels  := $(sort $(wildcard $(PROGRAMS:%=%/kernels/*.c)))
# Headers that kernel texts include.
shared   := $(sort $(wildcard $(PROGRAMS:%=%/kernels/*.h)))
mains    := $(sort $(wildcard $(FOLDERS:%=%/main_*.c)))
objects   = $(patsubst %.c,$(BUILD)/%.o,$(filter-out $(mains) $(kernels) $(leveled:%=%.c),$(call sources,$(1))))

# Sources over lanes and other hot loops, compiled only once per instruction level (src/isa.h).
# <program>/isa_calls.h lists their functions that others call.
models   := $(shell sed -n 's/^MODEL(\(.*\))/\1/p' okada_mogi/model_list.h)
leveled  := $(addprefix npb_mz/,bt sp sp_lines lu lu_stream rhs solvers) \
 $(addprefix okada_mogi/,$(models) search_brute search_single search_rows search_join join_table methods) \
 $(addprefix mcsem/,forward matmul shared shared_rows) $(addprefix kirchhoff/,sum nodes_fill tables_linear ray fill eikonal_line) \
 tests/lanes_twins tests/lanes_peak
with_levels := $(patsubst %/isa.c,%,$(wildcard $(PROGRAMS:%=%/isa.c)))
ARCH     := $(firstword $(subst -, ,$(shell $(CC) -dumpmachine 2>/dev/null)))
# Sanitizers take the lowest, and the highest that this machine runs.
avx512   := $(shell grep -m1 -o avx512dq /proc/cpuinfo)
levels_x86_64   := plain $(if $(SAN),$(if $(avx512),v4,v3),v2 v3 v4)
levels_aarch64  := neon
levels   := $(or $(levels_$(ARCH)),plain)
# Only for tests: one lane, and eight where no level of this processor has them, which the compiler splits.
levels_t := lanes1 $(if $(and $(avx512),$(filter v4,$(levels))),,lanes8)
isa_plain  := -DLANES=4
isa_neon   := -DLANES=4
isa_v2     := -DLANES=4 -march=x86-64-v2
isa_v3     := -DLANES=4 -march=x86-64-v3
isa_v4     := -DLANES=8 -march=x86-64-v4 -mprefer-vector-width=512
isa_lanes1 := -DLANES=1 -O1 -ffp-contract=off
isa_lanes8 := -DLANES=8 -O1 -ffp-contract=off
OBJCOPY  := $(shell $(CC) -print-prog-name=objcopy 2>/dev/null)

binname   = $(BIN)/$(subst _,-,$(patsubst main_%.c,%,$(notdir $(1))))
bins     := $(foreach m,$(mains),$(call binname,$(m)))
tests    := $(patsubst tests/%.c,$(BUILD)/tests/%,$(sort $(wildcard tests/test_*.c)))
# DGEMM tasks need OpenBLAS with threads, whichever variant the programs link.
OPENBLAS := $(wildcard /usr/lib/$(shell $(CC) -print-multiarch 2>/dev/null)/openblas-pthread)
benches  := $(patsubst tests/bench/%.c,$(BUILD)/bench/%,$(sort $(filter-out tests/bench/gpu_activity.c $(if $(OPENBLAS),,tests/bench/dgemm.c),$(wildcard tests/bench/*.c))))
# Kernel texts without a barrier are compiled for the host, too, as the tests' oracle.
oracles  := $(shell grep -L '\bBARRIER;' $(kernels) /dev/null 2>/dev/null | grep -v /dev/null)
# Tests have kernels of their own, embedded in test programs only.
kernels_t := $(sort $(wildcard tests/kernels/*.c))
oracles_t := $(shell grep -L '\bBARRIER;' $(kernels_t) /dev/null 2>/dev/null | grep -v /dev/null)
archives := $(foreach f,$(PROGRAMS),$(if $(call objects,$(f)),$(BUILD)/lib$(f).a)) $(BUILD)/libevenkeel.a
folder_of = $(BUILD)/lib$(firstword $(subst /, ,$(1))).a

all: $(bins)

help:
	@printf '%s\n' 'make            programs into bin/' \
	 'make deps       install the distribution packages that are missing' \
	 'make demo       BT-MZ class W under every policy on all cores and the OpenCL device' \
	 'make check      all tests but' 'make check-long those that take long' 'make bench      all measurements' 'make lint       style and layering' \
	 'make arches     the sources through the compilers for every level of x86-64, aarch64, riscv64, ppc64le' \
	 'make check-arm  unit tests as aarch64 code under qemu-user' \
	 'make bundle     all that a machine with a GPU and no tools needs, with finished kernels' \
	 'make deb        Debian packages of what is committed, into $(BUILD)/deb' \
	 'make soak       random faults in every program, MINUTES=5: nothing may be lost' \
	 'make proof      what a sceptic would run, as one page: PROOF=FILE' \
	 'make kernels    every kernel text for NVIDIA, AMD and OpenCL without a device; registers and spills' \
	 'make bits       which results have the same bits on every instruction level' \
	 'make replay     tables and figures of the five papers beside ours: REPORT=FILE, one page' \
	 'make ablation   what each mechanism of evenkeel is worth' \
	 'make scale      the search over 24 to 1,024 simulated nodes (SimGrid)' \
	 'make waterlevel moldable tasks: the papers figures, and measured on this machine' \
	 'make coverage   which lines the tests reach, of all' \
	 'make races      the tests whose threads meet under ThreadSanitizer (clang, libomp)' \
	 'make fuzz       every reader on damaged files (clang: libFuzzer)' \
	 'make debug      programs for a debugger, into build-debug/bin' \
	 'make compile_commands.json   for editors and clang tools' \
	 'make format     clang-format the tree' 'make install    PREFIX=$(PREFIX) DESTDIR=$(DESTDIR)' \
	 'make man        manual pages from --help, into $(BUILD)/man' \
	 'make uninstall  remove what install put there' 'make clean      remove what was built' '' \
	 'variables: CC MARCH OPT SAN BUILD V PREFIX DESTDIR, also from config.mk'

# ---- objects: rebuilt when a header, the flags or the compiler change --------------------------
# The foundations are also a shared library.
PIC      := -fPIC -fno-semantic-interposition
$(addprefix $(BUILD)/,$(addsuffix /%.o,$(CORE))): CFLAGS += $(PIC)
# So are fields of the layered earth; the library exports one function of them.
fields_o := $(addprefix mcsem/,fields.o forward_parts.o shared_layout.o pair.o hankel.o survey.o survey_columns.o earth.o) isa/mcsem.o
flags := $(subst ','\'',$(CC) $(CPPFLAGS) $(CFLAGS) $(PIC) $(LDFLAGS) $(LDLIBS))
$(BUILD)/flags: FORCE
	@mkdir -p $(@D); echo '$(flags)' | cmp -s - $@ || \
	 if said=$$($(CC) $(CPPFLAGS) $(CFLAGS) -fsyntax-only -x c src/preflight.h 2>&1); then echo '$(flags)' > $@; \
	 else echo "$$said" | grep -m1 -i error >&2; exit 1; fi

$(BUILD)/%.o: %.c $(BUILD)/flags
	$(call say,CC,$<)
	@mkdir -p $(@D)
	$(Q)$(CC) $(CPPFLAGS) $(CFLAGS) -MMD -MP -c $< -o $@

# xxHash forces functions inline that -Og does not.
$(BUILD)/src/checksum.o: CPPFLAGS += $(if $(filter -Og,$(OPT)),-DXXH_NO_INLINE_HINTS=1)
# The report of NPB prints them.
$(BUILD)/npb_mz/write_npb.o: CPPFLAGS += '-DEK_FLAGS="-std=c11 -g1 $(OPT) $(march) -ffp-contract=fast -fopenmp"'
# The objects of one level of a program become one object that exports only its table of functions.
define level
$(BUILD)/isa/$(1)/%.o: %.c $(BUILD)/flags
	$$(call say,CC,$$<, $(1))
	@mkdir -p $$(@D)
	$(Q)$(CC) $$(CPPFLAGS) $$(CFLAGS) $(isa_$(1)) -DISA=$(1) -Wno-psabi -MMD -MP -c $$< -o $$@
endef
$(foreach l,$(levels) $(levels_t),$(eval $(call level,$(l))))
define level_of_program
$(BUILD)/isa/$(1)/$(2).o: $(patsubst %,$(BUILD)/isa/$(1)/%.o,$(filter $(2)/%,$(leveled)) $(2)/isa)
	$(Q)$(CC) -r -nostdlib $$^ -o $$@.part && $(OBJCOPY) -G $(2)_isa_$(1) $$@.part $$@ && rm $$@.part
endef
$(foreach l,$(levels) $(levels_t),$(foreach p,$(with_levels) tests,$(eval $(call level_of_program,$(l),$(p)))))
# The levels and the dispatch to them are one object, as weak references pull nothing from archives.
$(patsubst %,$(BUILD)/isa/%.o,$(with_levels) tests): $(BUILD)/isa/%.o: $(BUILD)/%/isa.o $(foreach l,$(levels),$(BUILD)/isa/$(l)/%.o)
	$(Q)$(CC) -r -nostdlib $^ -o $@
$(BUILD)/src/isa_built.o: CPPFLAGS += -DISA_BUILT='" $(levels) "'
$(BUILD)/tests/isa_built.o: src/isa_built.c $(BUILD)/flags Makefile # the levels
	@mkdir -p $(@D)
	$(Q)$(CC) $(CPPFLAGS) $(CFLAGS) -DISA_BUILT='" $(levels) $(levels_t) "' -c $< -o $@
# The levels of the tests alone.
levels_of_tests = $(BUILD)/tests/isa_built.o $(foreach l,$(levels_t),$(BUILD)/isa/$(l)/$(1).o)

# The folder's objects of all levels.
all_levels = $(addsuffix /$(1),$(BUILD) $(levels:%=$(BUILD)/isa/%) $(levels_t:%=$(BUILD)/isa/%))
# Fields have the same bits on every processor: no contraction but explicit fma().
$(call all_levels,mcsem/%.o): CFLAGS += -ffp-contract=off $(SOLVER_CFLAGS) $(PIC)
ifneq ($(SAN),)
# Without inlining its many small vector functions, tests would take too long.
$(call all_levels,mcsem/%.o): OPT := -O2
endif
$(BIN)/mcsem $(tests) $(benches): LDLIBS := $(SOLVER_LIBS) $(LDLIBS) # before GSL's slow cblas
# Images have the same bits on every unit.
$(call all_levels,kirchhoff/%.o): CFLAGS += -ffp-contract=off -fno-trapping-math
# Rays need not have: their tables are files, the same for all units.
$(call all_levels,kirchhoff/ray.o): CFLAGS += -ffp-contract=fast
$(BIN)/kirchhoff-mig $(tests) $(benches): LDLIBS += $(WAVES_LIBS)

# Tests compute little themselves, so optimizing them takes longer than it saves; a little of it lets the
# compiler warn by the flow of data.
quick    := $(if $(filter -O3,$(OPT)),-Og,$(OPT))
$(BUILD)/tests/test_%.o: OPT := $(quick)

$(BUILD)/oracle/%.o: %.c src/kernel.h $(BUILD)/flags
	$(call say,ORACLE,$<)
	@mkdir -p $(@D)
	$(Q)$(CC) $(CPPFLAGS) $(CFLAGS) -ffp-contract=off \
	 -fno-lto -include src/kernel.h -MMD -MP -c $< -o $@

# The report page needs the page itself and Chart.js from the distribution, if installed.
chartjs  := $(firstword $(wildcard $(CHARTJS) /usr/share/javascript/chart.js/chart.min.js /usr/lib/nodejs/chart.js/dist/chart.min.js))
pages    := $(sort $(wildcard $(FOLDERS:%=%/*.html) cu/*/*.html))
texts    := src/kernel.h $(shared) $(kernels) $(pages) $(chartjs:%=chart.min.js=%)
text_files = $(foreach t,$(1),$(lastword $(subst =, ,$(t))))

$(BUILD)/texts: FORCE
	@mkdir -p $(@D); echo '$(texts) $(oracles)' | cmp -s - $@ || echo '$(texts) $(oracles)' > $@

$(BUILD)/embed.c: $(call text_files,$(texts)) $(BUILD)/texts src/embed.sh
	$(call say,EMBED,$@)
	@mkdir -p $(@D)
	$(Q)sh src/embed.sh $(texts) -- $(oracles) > $@.part && mv $@.part $@

$(BUILD)/tests/embed.c: $(BUILD)/embed.c $(kernels_t)
	$(call say,EMBED,$@)
	@mkdir -p $(@D)
	$(Q)sh src/embed.sh $(texts) $(kernels_t) -- $(oracles) $(oracles_t) > $@.part && mv $@.part $@

$(BUILD)/embed.o $(BUILD)/tests/embed.o: %.o: %.c $(BUILD)/flags
	$(Q)$(CC) $(CPPFLAGS) $(CFLAGS) -Wno-strict-prototypes -c $< -o $@

$(BUILD)/libevenkeel.a: $(foreach f,$(CORE),$(call objects,$(f))) $(BUILD)/embed.o $(oracles:%.c=$(BUILD)/oracle/%.o)
	$(call say,AR,$@)
	$(Q)rm -f $@ && ar rcs $@ $^

define program_archive
$(BUILD)/lib$(1).a: $(filter-out %/isa.o,$(call objects,$(1))) $(patsubst %,$(BUILD)/isa/%.o,$(filter $(1),$(with_levels)))
	$$(call say,AR,$$@)
	$(Q)rm -f $$@ && ar rcs $$@ $$^
endef
$(foreach f,$(PROGRAMS),$(eval $(call program_archive,$(f))))

define program
$(call binname,$(1)): $(BUILD)/$(1:.c=.o) $(if $(filter $(PROGRAMS),$(firstword $(subst /, ,$(1)))),$(call folder_of,$(1))) $(BUILD)/libevenkeel.a
	$$(call say,LINK,$$@)
	@mkdir -p $$(@D)
	$(Q)$(CC) $(LDFLAGS) $$^ $$(LDLIBS) -o $$@
endef
$(foreach m,$(mains),$(eval $(call program,$(m))))

# Fake drivers and compilers of the GPU vendors, for machines without a GPU: tests/fakegpu/fake.h.
# Put $(BUILD)/fakegpu on LD_LIBRARY_PATH; libfakempi.so goes before MPI (LD_PRELOAD), hip5 holds an older HIP, hip2cuda HIP on top of CUDA.
FAKE     := $(BUILD)/fakegpu
fakes    := $(addprefix $(FAKE)/,libcuda.so.1 libnvrtc.so.12 libamdhip64.so.6 libhiprtc.so.6 libfakempi.so \
 hip5/libamdhip64.so.5 hip2cuda/libamdhip64.so.6 hip2cuda/libhiprtc.so.6)
fake_driver   := tests/fakegpu/driver.c tests/fakegpu/queue.c tests/fakegpu/price.c tests/fakegpu/pocl.c src/clock.c
fake_compiler := tests/fakegpu/compiler.c tests/fakegpu/pocl.c
$(FAKE)/libcuda.so.1: $(fake_driver)
$(FAKE)/libfakempi.so: tests/fakegpu/mpi.c
$(FAKE)/libnvrtc.so.12: $(fake_compiler)
$(FAKE)/libamdhip64.so.6: $(fake_driver)
$(FAKE)/libhiprtc.so.6: $(fake_compiler)
$(FAKE)/hip5/libamdhip64.so.5: $(fake_driver) tests/fakegpu/compiler.c
$(FAKE)/hip2cuda/libamdhip64.so.6 $(FAKE)/hip2cuda/libhiprtc.so.6: tests/fakegpu/hip2cuda.c
$(FAKE)/libamdhip64.so.6 $(FAKE)/libhiprtc.so.6: CPPFLAGS += -DFAKE_HIP=6
$(FAKE)/hip5/libamdhip64.so.5: CPPFLAGS += -DFAKE_HIP=5
$(fakes): OPT := $(quick)
# initial-exec: LeakSanitizer trips over thread-local variables that come with a library opened late.
$(fakes): tests/fakegpu/fake.h $(BUILD)/flags
	$(call say,FAKE,$@)
	@mkdir -p $(@D)
	$(Q)$(CC) $(CPPFLAGS) $(filter-out -fopenmp,$(CFLAGS)) -fPIC -shared -fvisibility=hidden -ftls-model=initial-exec -Wl,-soname,$(@F) \
	 $(filter %.c,$^) $(filter-out -fopenmp,$(LDFLAGS)) -ldl -lpthread -o $@

# The tests' library hands each test a state, which few need.
$(BUILD)/tests/%.o: CFLAGS += -Wno-unused-parameter

# Where the compiler has gold, tests link in half the time. Sanitizers keep the usual linker.
quick_ld := $(if $(SAN),,$(shell $(CC) -fuse-ld=gold -Wl,--version 2>/dev/null | grep -q '^GNU gold' && echo -fuse-ld=gold))
# The tests' table of texts replaces the archive's. Only tests of a program link a program.
$(BUILD)/tests/%: $(BUILD)/tests/%.o $(BUILD)/tests/embed.o $(oracles_t:%.c=$(BUILD)/oracle/%.o) $(BUILD)/libevenkeel.a | $(fakes)
	$(call say,LINK,$@)
	$(Q)$(CC) $(LDFLAGS) $(quick_ld) $(filter %.o,$^) -Wl,--start-group $(filter %.a,$^) -Wl,--end-group $(LDLIBS) -lcmocka -o $@
$(foreach p,$(with_levels),$(eval $(filter $(BUILD)/tests/test_$(p)_%,$(tests)): $(call levels_of_tests,$(p)) $(BUILD)/lib$(p).a))
$(BUILD)/tests/test_src_isa: $(call levels_of_tests,tests) $(BUILD)/isa/tests.o

$(BUILD)/bench/%: $(BUILD)/tests/bench/%.o $(BUILD)/isa/tests.o $(archives)
	$(call say,LINK,$@)
	@mkdir -p $(@D)
	$(Q)$(CC) $(LDFLAGS) $(filter %.o,$^) -Wl,--start-group $(archives) -Wl,--end-group $(LDLIBS) -o $@

# Our declarations of the vendors' interfaces are checked against their headers, if installed.
$(BUILD)/tests/test_backends_abi_cuda.o $(BUILD)/tests/test_backends_abi_hip.o: \
 CPPFLAGS += $(addprefix -isystem ,$(firstword $(wildcard /usr/local/cuda/include /usr/local/cuda-*/include)) $(wildcard /opt/rocm/include))

# Records what real NVIDIA GPUs do, where CUPTI is installed.
cupti    := $(patsubst %/cupti.h,%,$(firstword $(wildcard $(foreach h,$(CUDA_HOME) /usr/local/cuda /usr/local/cuda-*,$(h)/include/cupti.h $(h)/extras/CUPTI/include/cupti.h))))
activity := $(if $(cupti),$(BUILD)/bench/libgpu_activity.so)
$(BUILD)/bench/libgpu_activity.so: tests/bench/gpu_activity.c
	$(call say,LINK,$@)
	@mkdir -p $(@D)
	$(Q)$(CC) -std=c11 -O2 $(WARN) -isystem $(cupti) -fPIC -shared $< $(foreach l,lib lib64,-L$(cupti)/../$(l)) -lcupti -o $@

# Compares with StarPU, if installed; without it the program says so.
$(BUILD)/bench/starpu: CFLAGS += $(patsubst -I%,-isystem %,$(shell pkg-config --cflags starpu-1.3 2>/dev/null))
$(BUILD)/bench/starpu: LDLIBS += $(shell pkg-config --libs starpu-1.3 2>/dev/null)

$(BUILD)/bench/dgemm: CFLAGS += -isystem $(subst /lib/,/include/,$(OPENBLAS))
$(BUILD)/bench/dgemm: LDLIBS += -L$(OPENBLAS) -Wl,-rpath,$(OPENBLAS) -lopenblas

# ---- targets --------------------------------------------------------------------------
deps:
	@sh .ci/deps install
needed:
	@sh .ci/deps check || sh .ci/deps install

demo: needed
	@$(MAKE) --no-print-directory all && BIN=$(BIN) REPORT=$(REPORT) sh npb_mz/examples/demo.sh

check: needed
	@$(MAKE) --no-print-directory tests
# With TESTS=word, only unit tests whose name contains it are built, and programs unless it is test_….
selected = $(if $(TESTS),$(foreach t,$(1),$(if $(findstring $(TESTS),$(notdir $(t))),$(t))),$(1))
of_scripts = $(bins) $(if $(EK_LONG),$(benches)) $(BUILD)/bench/kirchhoff_donation $(BUILD)/tests/replay_sabotage
# Without EK_LONG they come first, with it the long searches of programs do.
scripts  = $(if $(EK_LONG),$(sort $(wildcard tests/e2e/long/*.sh))) $(sort $(wildcard tests/e2e/*.sh))
tests: $(if $(filter test_%,$(TESTS)),,$(of_scripts)) $(call selected,$(tests)) | $(fakes)
	@BUILD=$(BUILD) BIN=$(BIN) SAN='$(SAN)' bash tests/run.sh $(if $(EK_LONG),,$(scripts)) $(call selected,$(tests)) $(if $(EK_LONG),$(scripts))

# Long tests: the long scripts, and the long parts of other tests.
check-long: needed
	@EK_LONG=1 $(MAKE) --no-print-directory tests

bench: needed
	@$(MAKE) --no-print-directory benches
benches: $(bins) $(benches) $(activity)
	@BUILD=$(BUILD) BIN=$(BIN) bash tests/bench/run.sh

# The papers' tables and figures beside ours: as text, or with REPORT=FILE on the command line as a page
# (by default REPORT is the folder of the programs' pages).
replay: $(BIN)/cu-plan $(BIN)/cu-run $(BIN)/mcsem $(BUILD)/bench/kirchhoff_donation
	@BUILD=$(BUILD) BIN=$(BIN) python3 tests/replay.py $(if $(filter command,$(origin REPORT)),--report '$(REPORT)')

# A cu-plan in which every policy can be sabotaged.
$(BUILD)/tests/replay_sabotage: $(BUILD)/tests/replay_sabotage.o $(BUILD)/cu/main_cu_plan.o $(BUILD)/libevenkeel.a
	$(call say,LINK,$@)
	$(Q)$(CC) $(LDFLAGS) $(shell sed -n 's/^SCHED(\(.*\))/-Wl$(comma)--wrap=sched_\1/p' cu/sched/sched_list.h) $^ $(LDLIBS) -o $@

# Links sources of evenkeel compiled so that each mechanism can be switched off.
ablated  := $(patsubst %.c,$(BUILD)/ablation/%.o,$(wildcard cu/sched/*.c) cu/sched/policy/evenkeel.c)
$(BUILD)/ablation/%.o: CPPFLAGS += -include tests/bench/cu_ablation.h
$(BUILD)/ablation/%.o: %.c $(BUILD)/flags
	$(call say,CC,$<, ablation)
	@mkdir -p $(@D)
	$(Q)$(CC) $(CPPFLAGS) $(CFLAGS) -MMD -MP -c $< -o $@
$(BUILD)/bench/cu_ablation: $(ablated)
ablation: $(BUILD)/bench/cu_ablation
	@$<

# The search's coordinator on simulated clusters, if SimGrid is installed. Only what it needs is linked;
# none of it may call the real MPI.
SCALE    := $(BUILD)/scale
scale_c  := tests/scale/okada_mogi.c
scale_l  := $(filter-out cu/rank/cluster.c cu/examples/%,$(wildcard src/*.c cu/*/*.c cu/*/*/*.c))
SCALE_FLAGS := -std=c11 -D_GNU_SOURCE -O2 -fPIC -fopenmp $(WARN) -I. $(shell pkg-config --cflags hwloc jansson gsl libxxhash libzmq 2>/dev/null)
$(SCALE)/tests/%.o: SCALE_CC := smpicc
$(SCALE)/%.o: SCALE_CC := $(CC)
$(SCALE)/%.o: %.c
	$(call say,SMPI,$<)
	@mkdir -p $(@D)
	$(Q)$(SCALE_CC) $(SCALE_FLAGS) -MMD -MP -c $< -o $@
$(SCALE)/libcu.a: $(scale_l:%.c=$(SCALE)/%.o)
	$(Q)rm -f $@ && ar rcs $@ $^
$(SCALE)/search: $(scale_c:%.c=$(SCALE)/%.o) $(SCALE)/libcu.a
	$(call say,LINK,$@)
	$(Q)smpicc -fopenmp $^ $(shell pkg-config --libs hwloc jansson gsl libzmq 2>/dev/null) -lglpk -ldl -lm -o $@
scale: $(if $(shell command -v smpicc),$(SCALE)/search)
	@sh tests/scale/run.sh $(SCALE)/search

soak: $(bins)
	@BIN=$(BIN) bash tests/soak.sh
proof: $(bins) $(tests) $(benches)
	@BUILD=$(BUILD) BIN=$(BIN) bash tests/proof.sh

# Readers on damaged files made by clang's libFuzzer.
FUZZ     := build-fuzz
$(FUZZ)/bench/fuzz-guided: tests/bench/fuzz.c $(FUZZ)/bench/fuzz
	$(Q)$(CC) $(CPPFLAGS) $(CFLAGS) -DLIBFUZZER -c $< -o $@.o
	$(Q)$(CC) $(subst -no-link,,$(LDFLAGS)) $@.o $(BUILD)/isa/tests.o -Wl,--start-group $(archives) -Wl,--end-group $(LDLIBS) -o $@
fuzz: $(bins)
	@$(MAKE) --no-print-directory BUILD=$(FUZZ) CC=clang SAN=address,undefined,fuzzer-no-link levels=plain $(FUZZ)/bench/fuzz-guided
	@FUZZ=$(FUZZ)/bench bash tests/fuzz.sh

# Multi-threaded tests under ThreadSanitizer.
races:
	@bash tests/races.sh

# Compiles kernel texts for devices, whether or not the machine has any.
kernels: $(BUILD)/tests/kernels_rtc
	@BUILD=$(BUILD) bash tests/kernels.sh

# Programs, libraries, compiled kernels and tests in one file, for a machine that has only a GPU's
# driver: unpack it there and call ./run.sh.
gpu_tests := $(addprefix $(BUILD)/tests/test_backends_,laws boxes cache gpu gpu_copy abi_cuda abi_hip)
bundle: all $(gpu_tests) $(BUILD)/bench/devices $(activity) | $(fakes)
	@BIN='$(BIN)' BUILD='$(BUILD)' bash tests/bundle.sh

deb:
	@BUILD='$(BUILD)' bash tests/packaging/deb.sh

# Compiles the sources for other machines.
arches:
	@CPPFLAGS='$(CPPFLAGS)' WARN='$(WARN)' PKG_CFLAGS='$(PKG_CFLAGS) $(SOLVER_CFLAGS)' bash tests/arches.sh

# Unit tests as aarch64 code under an emulator.
check-arm:
	@bash tests/arm.sh

waterlevel: $(bins) $(BUILD)/bench/waterlevel $(filter $(BUILD)/bench/dgemm,$(benches))
	@BUILD=$(BUILD) BIN=$(BIN) bash tests/bench/waterlevel.sh

# Whether results have the same bits on every instruction level that this processor runs.
bits: $(bins)
	@BIN=$(BIN) bash tests/bits.sh

lint:
	@BUILD=$(BUILD) bash tests/lint.sh

debug:
	@$(MAKE) --no-print-directory BUILD=build-debug OPT='-Og -g3 -fno-omit-frame-pointer' all

# Line coverage of the tests. LDFLAGS comes by the environment, so that the Makefile can add to it.
coverage:
	@LDFLAGS='$(filter-out -fopenmp,$(LDFLAGS)) --coverage' $(MAKE) --no-print-directory BUILD=build-coverage \
	 BIN=build-coverage/bin OPT='-O1 --coverage' tests; \
	 python3 tests/coverage.py build-coverage

# The commands of rule %.o, file by file; kernel texts are not C by themselves.
compile_commands.json: FORCE
	@{ printf '['; sep=; for f in $(foreach f,$(FOLDERS),$(call sources,$(f))) $(wildcard tests/*.c); do \
	 case $$f in */kernels/*) continue ;; esac; \
	 printf '%s\n{"directory": "%s", "file": "%s", "command": "%s"}' "$$sep" '$(CURDIR)' "$$f" \
	 '$(CC) $(CPPFLAGS) $(CFLAGS) -c '"$$f"; sep=,; done; printf '\n]\n'; } > $@

format:
	@clang-format -i $$(git ls-files '*.c' '*.h')

# Manual pages are --help plus the sections in src/man/.
pages_man := $(bins:$(BIN)/%=$(BUILD)/man/%.1)
$(BUILD)/man/%.1: $(BIN)/% src/man/sections.h2m src/man/examples
	$(call say,MAN,$@)
	@mkdir -p $(@D)
	@{ cat src/man/sections.h2m; echo; echo '[EXAMPLES]'; awk -F'\t' '$$1 == "$*" { gsub(/-/, "\\-"); print ".TP\n.B " $$2 "\n" $$3 }' src/man/examples; } > $@.h2m
	$(Q)help2man -L C.UTF-8 --no-info --section=1 --manual=Evenkeel --source='Evenkeel $(VERSION)' --include=$@.h2m \
	 --version-string=$(VERSION) --help-option='--help all' --name="$$($< --help | sed -n '1s/.* – //p')" --output=$@ $< && rm $@.h2m
$(BUILD)/man/evenkeel-policies.7: $(BIN)/bt-mz
	@mkdir -p $(@D)
	@{ echo '.TH EVENKEEL\-POLICIES 7 "" "Evenkeel $(VERSION)" Evenkeel'; printf '.SH NAME\nevenkeel\-policies \\- who gets which tasks when\n.SH DESCRIPTION\n'; \
	 echo 'What \-\-schedule and CU_SCHEDULE take: a name, and behind a colon its options, as in dynamic:chunk=4.'; \
	 $< --list-schedules | sed -E 's/-/\\-/g; s/^([a-z][^ ]*) +/.TP\n.B \1\n/; s/^  (:[^ ]+) +(.*)/.br\n.B \1\n\2/'; } > $@

man: $(pages_man) $(BUILD)/man/evenkeel-policies.7

$(BUILD)/completion.%: $(bins) src/man/completion.sh
	@sh src/man/completion.sh $* $(bins) > $@

# ---- what is installed ------------------------------------------------------------------------
# <evenkeel.h> and what it includes, plus what programs based on bench_main() need. The libraries export
# only the symbols of these headers; they embed the kernel dialect and the report's page.
LIBDIR     ?= $(PREFIX)/lib
BINDIR     ?= $(PREFIX)/bin
INCLUDEDIR ?= $(PREFIX)/include
DATADIR    ?= $(PREFIX)/share
MANDIR     ?= $(DATADIR)/man
DOCDIR     ?= $(DATADIR)/doc/evenkeel
OBJCOPY    ?= objcopy
headers := $(addprefix src/,embed.h file.h json.h kernel.h opt.h status.h) backends/backend.h \
 $(addprefix cu/,unit/cu.h sched/sched.h team/events.h team/team.h team/ek_grid.h bench/bench.h bench/tasks.h) mcsem/fields.h
faces   := mcsem_forward status_ file_ json_ opt_ embed_ kernel_ backend_ cu_ sched_ team_ events_ bench_ ek_
SONAME  := libevenkeel.so.$(firstword $(subst ., ,$(VERSION)))
FACE    := $(BUILD)/face
face_o  := $(filter-out %/main_%,$(foreach f,$(CORE),$(call objects,$(f)))) $(fields_o:%=$(BUILD)/%) $(FACE)/embed.o
face_t  := src/kernel.h $(filter src/% cu/%,$(pages)) $(chartjs:%=chart.min.js=%)
$(FACE)/embed.c: $(call text_files,$(face_t)) $(BUILD)/texts src/embed.sh
	@mkdir -p $(@D)
	$(Q)sh src/embed.sh $(face_t) -- > $@.part && mv $@.part $@
$(FACE)/embed.o: $(FACE)/embed.c $(BUILD)/flags
	$(Q)$(CC) $(CPPFLAGS) $(CFLAGS) $(PIC) -c $< -o $@
$(FACE)/libevenkeel.a: $(face_o)
	$(call say,FACE,$@)
	$(Q)$(LD) -r $^ -o $(@D)/evenkeel.o && \
	 $(OBJCOPY) -w $(foreach f,$(faces),--keep-global-symbol='$(f)*') $(@D)/evenkeel.o && \
	 rm -f $@ && ar rcs $@ $(@D)/evenkeel.o
$(FACE)/nohup.o: src/nohup.c $(BUILD)/flags
	@mkdir -p $(@D)
	$(Q)$(CC) $(CPPFLAGS) $(CFLAGS) $(PIC) -DEK_SHARED -c $< -o $@
$(FACE)/$(SONAME): $(filter-out %/nohup.o,$(face_o)) $(FACE)/nohup.o
	$(call say,FACE,$@)
	@{ echo 'EVENKEEL_$(firstword $(subst ., ,$(VERSION))) { global:'; printf '%s*;' $(faces); echo 'local: *; };'; } > $(@D)/versions
	$(Q)$(CC) $(LDFLAGS) -shared -Wl,-z,defs -Wl,-soname,$(SONAME) -Wl,--version-script=$(@D)/versions $^ $(LDLIBS) -o $@

examples := $(wildcard cu/examples/* mcsem/examples/*)
D        := $(DESTDIR)
install: all $(FACE)/libevenkeel.a $(FACE)/$(SONAME) $(BUILD)/completion.bash $(BUILD)/completion.zsh $(if $(shell command -v help2man),man)
	@install -d "$(D)$(BINDIR)" "$(D)$(LIBDIR)/pkgconfig" "$(D)$(INCLUDEDIR)" "$(D)$(DOCDIR)/examples"
	@install -m 755 $(bins) "$(D)$(BINDIR)"
	@install -m 644 $(FACE)/libevenkeel.a "$(D)$(LIBDIR)"
	@install -m 755 $(FACE)/$(SONAME) "$(D)$(LIBDIR)/libevenkeel.so.$(VERSION)"
	@ln -sf libevenkeel.so.$(VERSION) "$(D)$(LIBDIR)/$(SONAME)"; ln -sf $(SONAME) "$(D)$(LIBDIR)/libevenkeel.so"
	@install -m 644 LICENSE README.md "$(D)$(DOCDIR)"; install -m 644 $(examples) "$(D)$(DOCDIR)/examples"
	@$(if $(shell command -v help2man),install -d "$(D)$(MANDIR)/man1" && \
	 install -m 644 $(pages_man) "$(D)$(MANDIR)/man1" && install -D -m 644 $(BUILD)/man/evenkeel-policies.7 "$(D)$(MANDIR)/man7/evenkeel-policies.7",echo 'no help2man: no manual pages')
	@install -D -m 644 $(BUILD)/completion.zsh "$(D)$(DATADIR)/zsh/site-functions/_evenkeel"; \
	 for p in $(notdir $(bins)); do install -D -m 644 $(BUILD)/completion.bash "$(D)$(DATADIR)/bash-completion/completions/$$p"; done
	@for h in $(headers) evenkeel.h; do \
	 case $$h in evenkeel.h) from=cu/bench/$$h to="$(D)$(INCLUDEDIR)/$$h" ;; *) from=$$h to="$(D)$(INCLUDEDIR)/evenkeel/$$h" ;; esac; \
	 mkdir -p "$$(dirname "$$to")" && sed -E 's|^#include "([a-z_]+/.*)"|#include <evenkeel/\1>|' $$from > "$$to" && chmod 644 "$$to" || exit 1; done
	@# The OpenMP library of the compiler used: clang's is not gcc's.
	@omp=$$(readelf -d "$(FACE)/$(SONAME)" | grep -oE 'libi?omp[^]]*'); \
	 printf '%s\n' 'prefix=$(PREFIX)' 'libdir=$(LIBDIR)' 'includedir=$(INCLUDEDIR)' 'Name: evenkeel' \
	 'Description: runs programs evenly on all of a machine' 'Version: $(VERSION)' \
	 'Cflags: -I"$${includedir}"' 'Libs: -L"$${libdir}" -levenkeel' \
	 "Libs.private: $${omp:+-l:}$${omp:--fopenmp} $(PKG_LIBS) -lglpk -ldl -lm" \
	 > "$(D)$(LIBDIR)/pkgconfig/evenkeel.pc"
uninstall:
	@cd "$(D)$(BINDIR)" && rm -f $(notdir $(bins)); cd "$(D)$(LIBDIR)" && rm -f libevenkeel.a libevenkeel.so* pkgconfig/evenkeel.pc
	@rm -rf "$(D)$(INCLUDEDIR)/evenkeel" "$(D)$(INCLUDEDIR)/evenkeel.h" "$(D)$(DOCDIR)" $(bins:$(BIN)/%="$(D)$(MANDIR)/man1/%.1") \
	 "$(D)$(MANDIR)/man7/evenkeel-policies.7" $(bins:$(BIN)/%="$(D)$(DATADIR)/bash-completion/completions/%") "$(D)$(DATADIR)/zsh/site-functions/_evenkeel"

clean:
	@rm -rf build build-* bin report

.PHONY: all bundle bits fuzz races coverage deb soak proof arches deps needed demo check check-arm check-long tests kernels bench benches replay ablation scale lint format man install uninstall clean help debug FORCE
.SECONDARY:
-include $(shell find $(BUILD) -name '*.d' 2>/dev/null)
