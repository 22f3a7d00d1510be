import Glibc

exit(await Thumbnailer.run(Array(CommandLine.arguments.dropFirst())))
