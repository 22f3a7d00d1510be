import Linux

CurrentProcess.end(SandboxProbe.run(CurrentProcess.arguments))
