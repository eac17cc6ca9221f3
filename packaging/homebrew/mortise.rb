# brew install --HEAD ./packaging/homebrew/mortise.rb, on Linux.
#
# Not run by Homebrew, which is in no package registry; `./dev test --packages` runs CMake with these options.
class Mortise < Formula
  desc "Distributed locks on Redis and Valkey"
  homepage "https://github.com/mortise/mortise"
  license "Apache-2.0"
  head "https://github.com/mortise/mortise.git", branch: "main"

  depends_on "cmake" => :build
  depends_on :linux

  def install
    options = %w[-DMORTISE_TESTS=OFF -DMORTISE_JAVA=OFF -DMORTISE_LUA=OFF -DMORTISE_PYTHON=OFF
                 -DMORTISE_COMMAND=OFF]
    system "cmake", "-S", ".", "-B", "build", *options, *std_cmake_args
    system "cmake", "--build", "build"
    system "cmake", "--install", "build"
  end

  test do
    (testpath/"version.c").write <<~C
      #include <mortise/mortise.h>
      #include <stdio.h>
      int main(void) { return puts(mortise_version_text()) < 0; }
    C
    system ENV.cc, "version.c", "-I#{include}", "-L#{lib}", "-lmortise", "-o", "version"
    assert_match(/^1\./, shell_output("./version"))
  end
end
