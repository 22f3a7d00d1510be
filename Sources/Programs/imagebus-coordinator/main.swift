import Coordinator
import Linux

CurrentProcess.end(CoordinatorProgram.run(CurrentProcess.arguments))
