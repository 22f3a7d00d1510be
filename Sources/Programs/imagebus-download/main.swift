import Linux

CurrentProcess.end(DownloadProgram.run(CurrentProcess.arguments))
