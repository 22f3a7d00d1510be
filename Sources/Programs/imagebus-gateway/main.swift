import Linux

CurrentProcess.end(GatewayProgram.run(CurrentProcess.arguments))
