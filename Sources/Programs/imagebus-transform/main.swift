import Linux

CurrentProcess.end(TransformProgram.run(CurrentProcess.arguments))
