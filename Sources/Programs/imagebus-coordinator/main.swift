import CoordinatorRuntime
import Linux

CurrentProcess.end(CoordinatorProgram.run(CurrentProcess.arguments))
