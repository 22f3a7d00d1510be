import ImageModel
import Messages
import TestKit
import Testing

@testable import Imagebus

@Suite struct LoadTableTests {
    private func load(_ number: UInt64) -> PendingLoad {
        let token = Token(Identifier128(high: 7, low: number))
        return PendingLoad(LoadRequest(token: token, image: ImageRequest(url: "http://a/b")))
    }

    private func token(_ number: UInt64) -> Token { Token(Identifier128(high: 7, low: number)) }

    @Test func tokensOfOnePlaceAreToldApart() {
        var table = LoadTable()
        // All of them begin at the last place, and so go on at the first one.
        let numbers = (0..<20).map { UInt64($0) << 40 | 63 }
        for number in numbers { table.insert(load(number)) }
        for number in numbers {
            #expect(table[token(number)]?.token == token(number))
        }
        let other = Token(Identifier128(high: 8, low: numbers[0]))
        #expect(table[other] == nil && table[token(1 << 60 | 63)] == nil)
        #expect(table.remove(other) == nil && table.count == 20)
    }

    @Test func theSecondOfATokenTakesThePlace() {
        var table = LoadTable()
        let (first, second) = (load(5), load(5))
        table.insert(first)
        table.insert(second)
        #expect(table.count == 1 && table[token(5)] === second)
        #expect(table.remove(token(5)) === second)
        #expect(table.isEmpty && table[token(5)] == nil)
    }

    /// Beside a dictionary: crowded places, so that what is removed has others behind it.
    @Test(arguments: 1...8)
    func itHoldsWhatADictionaryHolds(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        var table = LoadTable()
        var known: [Token: PendingLoad] = [:]
        for step in 0..<4_000 {
            let number =
                UInt64.random(in: 0..<24, using: &random) << 32
                | (UInt64.random(in: 0..<12, using: &random) &- 6)
            if Int.random(in: 0..<200, using: &random) == 0 {
                table.removeAll()
                known.removeAll()
            } else if Int.random(in: 0..<3, using: &random) > 0 {
                let load = load(number)
                table.insert(load)
                known[load.token] = load
            } else {
                #expect(table.remove(token(number)) === known.removeValue(forKey: token(number)))
            }
            #expect(table.count == known.count, "step \(step)")
            if step.isMultiple(of: 50) {
                #expect(known.allSatisfy { table[$0.key] === $0.value }, "step \(step)")
                #expect(Set(table.map(\.token)) == Set(known.keys), "step \(step)")
            }
        }
    }
}
