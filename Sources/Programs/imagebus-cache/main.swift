import Linux

CurrentProcess.end(CacheProgram.run(CurrentProcess.arguments))
