import Linux

CurrentProcess.end(DecodeProgram.run(CurrentProcess.arguments))
