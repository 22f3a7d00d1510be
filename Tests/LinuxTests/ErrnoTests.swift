import Linux
import Testing

@Suite struct ErrnoTests {
    @Test func anErrorNamesAndExplainsItself() {
        #expect(Errno.noSpace.name == "ENOSPC")
        #expect("\(Errno.noSpace)" == "ENOSPC: No space left on device")
        #expect(Errno(rawValue: 4_711).name == "errno 4711")
    }

    @Test func signalsNameThemselves() {
        #expect("\(Signal.kill)" == "SIGKILL")
        #expect("\(ChildStatus.signaled(.abort, dumpedCore: true))" == "SIGABRT (core dumped)")
        #expect("\(ChildStatus.exited(3))" == "exit 3")
    }
}
