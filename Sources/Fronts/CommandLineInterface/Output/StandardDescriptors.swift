import Glibc
import Linux

/// Standard input, output and error, which whoever started the program may have closed.
package enum StandardDescriptors {
    /// Takes the places of those that are closed, before anything else that is opened gets their
    /// numbers; they stay unusable: what is written there or read from there fails.
    package static func reserve() {
        for number in Int32(0)...2 where fcntl(number, F_GETFD) < 0 {
            // The lowest number that is free is this one.
            _ = open("/dev/null", number == 0 ? O_WRONLY : O_RDONLY)
        }
    }

    /// Finds before the work what would keep standard output from being written.
    package static func checkOutput() throws(OutputError) {
        let flags = fcntl(1, F_GETFL)
        guard flags >= 0, flags & O_ACCMODE != O_RDONLY else {
            throw OutputError(
                destination: OutputError.standardOutput, reason: .badDescriptor, wasOpened: true)
        }
    }
}
