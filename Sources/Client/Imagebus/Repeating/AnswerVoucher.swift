import EventLoop
import Linux
import Messages
import SharedArena
import Synchronization

/// Says whether an answer still stands: for who keeps what it made of one, such as a decoded image
/// or the head of another answer, and wants to use it again instead of loading. Any thread.
public struct AnswerVoucher: Sendable {
    /// An object, since each copy of a response copies its voucher.
    private final class Facts: Sendable {
        let uses: VoucherUses
        let words: VoucherReader
        let word: VoucherReader.Word
        let until: Instant?
        let mark = VoucherUses.Mark(0)

        init(_ voucher: Voucher, _ words: VoucherReader, _ uses: VoucherUses) {
            (self.words, self.uses) = (words, uses)
            (word, until) = (words.word(of: voucher.number), voucher.until)
        }
    }

    private let facts: Facts

    init(_ voucher: Voucher, _ words: VoucherReader, _ uses: VoucherUses) {
        facts = Facts(voucher, words, uses)
    }

    /// In the file of its session.
    var number: UInt64 { facts.word.number }

    /// Whether a load would be answered the same way now, from memory. Where it is, that counts as
    /// such a load: in the figures of the stack, and as a use of the entry, which stays longer for
    /// that.
    ///
    /// What was removed, replaced, refused or set anew is seen as soon as whoever asked for that
    /// was told that it is done (SEMANTICS §5.24). After the end of the client it is false.
    public func use() -> Bool { stands && count() }

    /// Counts a load that was answered by it; false where the client has ended.
    func count() -> Bool { facts.uses.count(facts.word.number, facts.mark) }

    /// Whether another one is the same voucher of the same session.
    func isSame(as other: AnswerVoucher?) -> Bool {
        other?.facts.words === facts.words && other?.number == number
    }

    /// The load of the time comes before that of the word: an answer that expired between both was
    /// still right when it was asked for.
    var stands: Bool {
        if let until = facts.until, until <= .now() { return false }
        return facts.words.stands(facts.word)
    }
}
