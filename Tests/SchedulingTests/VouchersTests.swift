import Model
import TestKit
import Testing

@testable import Coordinator

/// Vouchers on their own, and as readers of their file see them.
@Suite struct VouchersTests {
    /// The file as clients read it.
    private struct File {
        var words: [UInt64: UInt64] = [:]
        var floor: UInt64 = 0

        mutating func apply(_ writes: [VoucherWrite]) {
            for write in writes {
                switch write {
                case .word(let index, let number): words[index] = number
                case .floor(let number): floor = number
                }
            }
        }

        func stands(_ number: UInt64, of count: UInt64) -> Bool {
            words[number % count] == number && floor <= number
        }
    }

    private let source = ScopedSource(SourceKey(ImageRequest.image()), LoadTerms())

    @Test func noneAreIssuedWhereThereAreNoWords() {
        var vouchers = Vouchers(words: 0)
        let issued = vouchers.issue(BlockID(1), source, text: "a")
        #expect(issued == nil)
        vouchers.withdrawAll()
        vouchers.close()
        #expect(vouchers.drainWrites().isEmpty && !vouchers.stands(1) && !vouchers.stands(0))
    }

    @Test func eachReasonWithdrawsItsOwn() throws {
        var vouchers = Vouchers(words: 8)
        func issue(_ block: UInt64, _ source: ScopedSource?, _ text: String) throws -> UInt64 {
            let issued = vouchers.issue(BlockID(block), source, text: text)
            return try #require(issued)
        }
        let first = try issue(1, source, "a")
        let second = try issue(1, nil, "b")
        let third = try issue(2, nil, "b")
        #expect(Set([first, second, third]).count == 3 && vouchers.count == 3)
        #expect(vouchers.block(of: second) == BlockID(1))
        vouchers.withdraw(of: source)
        #expect(!vouchers.stands(first) && vouchers.stands(second) && vouchers.stands(third))
        vouchers.withdraw(of: BlockID(1))
        #expect(!vouchers.stands(second) && vouchers.stands(third))
        #expect(vouchers.block(of: second) == nil)
        vouchers.withdraw(ofText: "b")
        #expect(vouchers.count == 0)
        let fourth = try issue(1, source, "a")
        vouchers.withdrawAll()
        #expect(!vouchers.stands(fourth))
        let fifth = try issue(1, source, "a")
        #expect(vouchers.stands(fifth))
        vouchers.close()
        let afterwards = vouchers.issue(BlockID(1), nil, text: "")
        #expect(!vouchers.stands(fifth) && afterwards == nil)
        vouchers.withdrawAll()
        let later = vouchers.issue(BlockID(1), nil, text: "")
        #expect(later == nil, "closed for good")
    }

    @Test func oneMoreThanThereAreWordsWithdrawsTheOldest() throws {
        var vouchers = Vouchers(words: 4)
        var issued: [UInt64] = []
        for block in 0..<6 {
            let number = vouchers.issue(BlockID(UInt64(block)), nil, text: "a")
            issued.append(try #require(number))
        }
        #expect(issued.map { vouchers.stands($0) } == [false, false, true, true, true, true])
        vouchers.withdraw(of: BlockID(0))
        #expect(vouchers.stands(issued[4]), "the word was reassigned")
    }

    @Test func whatFellTakesNothingAlongThatHasItsWordNow() throws {
        var vouchers = Vouchers(words: 1)
        let first = vouchers.issue(BlockID(1), source, text: "a")
        vouchers.withdraw(of: BlockID(1))
        let second = vouchers.issue(BlockID(2), nil, text: "b")
        vouchers.withdraw(of: BlockID(1))
        vouchers.withdraw(of: source)
        vouchers.withdraw(ofText: "a")
        #expect(!vouchers.stands(try #require(first)))
        #expect(vouchers.stands(try #require(second)))
    }

    /// Readers of the words see exactly the valid vouchers, whatever was issued and withdrawn.
    @Test func theFileSaysTheSame() {
        var random = SeededGenerator(seed: 5)
        for words in [1, 3, 16] {
            var (vouchers, file, issued) = (Vouchers(words: words), File(), [UInt64]())
            for _ in 0..<2_000 {
                switch Int.random(in: 0..<20, using: &random) {
                case 0: vouchers.withdrawAll()
                case 1...3: vouchers.withdraw(of: BlockID(.random(in: 0..<6, using: &random)))
                case 4: vouchers.withdraw(of: source)
                case 5: vouchers.withdraw(ofText: "\(Int.random(in: 0..<4, using: &random))")
                default:
                    let number = vouchers.issue(
                        BlockID(.random(in: 0..<6, using: &random)),
                        random.happens(50) ? source : nil,
                        text: "\(Int.random(in: 0..<4, using: &random))")
                    if let number {
                        #expect(number > issued.last ?? 0)
                        issued.append(number)
                    }
                }
                file.apply(vouchers.drainWrites())
                for number in issued.suffix(40) {
                    #expect(file.stands(number, of: UInt64(words)) == vouchers.stands(number))
                }
            }
        }
    }
}
