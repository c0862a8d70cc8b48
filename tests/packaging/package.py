# tests/packaging/package.py – a Spack recipe, for Spack 0.23 and newer:
#
#   spack repo create ~/ek evenkeel      # says where packages go, of 1.0 on ~/ek/spack_repo/evenkeel/packages
#   mkdir -p THERE/evenkeel && cp tests/packaging/package.py THERE/evenkeel/
#   spack repo add THERE/.. && spack dev-build evenkeel@main      # in this tree
from spack.package import *

try:  # where build systems live since Spack 1.0
    from spack_repo.builtin.build_systems.makefile import MakefilePackage
except ImportError:
    pass


class Evenkeel(MakefilePackage):
    """Runs scientific programs on all of a machine - groups of CPU cores and every GPU - evenly loaded."""

    license("BSD-3-Clause")
    version("main")

    variant("opencl", default=True, description="headers and loader of OpenCL devices")

    depends_on("c", type="build")
    depends_on("gmake@4:", type="build")
    depends_on("pkgconfig", type="build")
    depends_on("help2man", type="build")
    depends_on("hwloc@2:")
    depends_on("jansson")
    depends_on("xxhash")
    depends_on("libzmq")
    depends_on("gsl")
    depends_on("glpk")
    depends_on("libffi")
    depends_on("openmpi")
    depends_on("suite-sparse@7:")  # <suitesparse/cholmod.h>, not <cholmod.h>
    depends_on("openblas threads=none")
    depends_on("fftw precision=float")
    depends_on("opencl-c-headers")
    depends_on("ocl-icd", when="+opencl")
    depends_on("cmocka", type="test")

    conflicts("target=x86:", msg="a 64-bit target")

    @property
    def build_targets(self):
        return ["all", "V=1"]

    @property
    def install_targets(self):
        return ["install", f"PREFIX={self.prefix}"]
