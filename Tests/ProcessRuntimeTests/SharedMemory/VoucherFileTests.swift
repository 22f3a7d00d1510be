import Linux
import Model
import TestKit
import Testing

@testable import ProcessRuntime

/// The voucher file: one side reads what the other writes, and rejects anything else.
@Suite struct VoucherFileTests {
    private let folder = TestKit.TemporaryDirectory()
    private let epoch = Epoch(Identifier128(high: 7, low: 9))

    private func reader(_ words: UInt32 = 16, _ epoch: Epoch? = nil) -> VoucherReader? {
        VoucherReader(
            besideSocket: folder.path + "/front.sock", epoch: epoch ?? self.epoch, words: words)
    }

    private var path: String { folder.path + "/" + VoucherLayout.fileName(epoch) }

    @Test func whatIsWrittenIsSeen() throws {
        let file = try VoucherFile(in: folder.path, epoch: epoch, words: 16)
        let reader = try #require(self.reader())
        #expect(!reader.stands(0 + 16) && !reader.stands(5))
        file.set(5, to: 21)
        #expect(reader.stands(21) && !reader.stands(5) && !reader.stands(37))
        file.raise(to: 21)
        #expect(reader.stands(21))
        file.raise(to: 22)
        #expect(!reader.stands(21))
        file.set(6, to: 22)
        #expect(reader.stands(22))
        file.set(6, to: 0)
        #expect(!reader.stands(22))
    }

    @Test func whoMayReadItIsTheGroupOfItsDirectory() throws {
        let file = try VoucherFile(in: folder.path, epoch: epoch, words: 16)
        let status = try FileDescriptor.openDirectory(folder.path).status(
            of: VoucherLayout.fileName(epoch))
        #expect(status.mode & 0o777 == 0o640 && status.size == 4_096 + 128)
        file.set(1, to: 1)
    }

    @Test func itsEndWithdrawsAllAndRemovesIt() throws {
        let reader: VoucherReader
        do {
            let file = try VoucherFile(in: folder.path, epoch: epoch, words: 16)
            file.set(1, to: 1)
            reader = try #require(self.reader())
            #expect(reader.stands(1))
        }
        #expect(!reader.stands(1))
        #expect(self.reader() == nil, "it is gone")
    }

    /// As after SIGKILL: the file was not removed.
    @Test func theNextCoordinatorWithdrawsWhatTheOneBeforeIssued() throws {
        let file = try VoucherFile(in: folder.path, epoch: epoch, words: 16)
        file.set(1, to: 1)
        let reader = try #require(self.reader())
        folder.write([1, 2, 3], to: "vouchers.short")
        folder.write([1, 2, 3], to: "front.sock")
        VoucherFile.closeAll(in: folder.path)
        #expect(!reader.stands(1))
        let left = try FileDescriptor.openDirectory(folder.path).entries()
        #expect(left == ["front.sock"])
    }

    @Test func whatIsNoSuchFileIsNone() throws {
        #expect(reader() == nil, "there is none")
        let file = try VoucherFile(in: folder.path, epoch: epoch, words: 16)
        #expect(reader(15) == nil && reader(17) == nil && reader(0) == nil)
        #expect(reader(16, Epoch(Identifier128(high: 7, low: 8))) == nil)
        let right = try FileDescriptor.open(path).readToEnd(bytesMax: 1 << 20)
        for offset in [0, 8, 16, 31] {
            var wrong = right
            wrong[offset] ^= 1
            try FileDescriptor.openDirectory(folder.path).unlink(VoucherLayout.fileName(epoch))
            folder.write(wrong, to: VoucherLayout.fileName(epoch))
            #expect(reader() == nil, "byte \(offset)")
        }
        try FileDescriptor.openDirectory(folder.path).unlink(VoucherLayout.fileName(epoch))
        folder.write(Array(right.dropLast()), to: VoucherLayout.fileName(epoch))
        #expect(reader() == nil, "short")
        file.set(1, to: 1)
    }

    @Test func aSecondFileOfTheSameLifeIsRefused() throws {
        let file = try VoucherFile(in: folder.path, epoch: epoch, words: 1)
        #expect(throws: Errno.fileExists) {
            _ = try VoucherFile(in: folder.path, epoch: epoch, words: 1)
        }
        file.set(0, to: 1)
    }
}

extension VoucherReader {
    fileprivate func stands(_ number: UInt64) -> Bool { stands(word(of: number)) }
}
