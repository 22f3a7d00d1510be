import Model
import ProcessRuntime
import TestKit

@testable import Imagebus

/// A client's remembered answers in a session, with the file in which its coordinator grants
/// vouchers.
final class VoucherSession {
    let folder: TestKit.TemporaryDirectory
    let file: VoucherFile
    let answers: RepeatedAnswers

    /// Creates a file with that many words, and a coordinator with the given clock.
    init(words: Int = 16, clock: Instant = .now()) throws {
        let epoch = Epoch(Identifier128(high: 3, low: 4))
        let folder = TestKit.TemporaryDirectory()
        let commands = try CommandQueue(commandsMax: 10)
        let file = try VoucherFile(in: folder.path, epoch: epoch, words: words)
        (self.folder, answers) = (folder, RepeatedAnswers(commands, BufferPool()))
        self.file = file
        answers.sessionBegan(
            ClientWelcome(epoch: epoch, window: 1, voucherWords: UInt32(words), clock: clock),
            at: folder.path + "/front.sock")
    }
}
