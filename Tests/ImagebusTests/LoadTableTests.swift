import Model
import Testing

@testable import Imagebus

@Suite struct LoadTableTests {
    private let commands: CommandQueue

    init() throws { commands = try CommandQueue(commandsMax: 1) }

    private func token(_ high: UInt64, _ low: UInt64) -> Token {
        Token(Identifier128(high: high, low: low))
    }

    private func load(_ token: Token) -> PendingLoad {
        PendingLoad(ImageRequest(url: "http://a/b"), LoadTask(token: token, commands: commands))
    }

    /// Half of a token is hashed, and all of it is compared.
    @Test func tokensOfOneHashAreToldApart() {
        var table = LoadTable()
        let tokens = (0..<20).map { token(UInt64($0), 63) }
        for token in tokens { table.insert(load(token)) }
        #expect(table.count == 20 && Set(table.map(\.token)) == Set(tokens))
        #expect(table[token(20, 63)] == nil && table.remove(token(20, 63)) == nil)
        for (number, token) in tokens.enumerated() {
            #expect(table.remove(token)?.token == token)
            #expect(tokens[(number + 1)...].allSatisfy { table[$0]?.token == $0 })
        }
        #expect(table.isEmpty)
    }

    @Test func theSecondOfATokenTakesThePlace() {
        var table = LoadTable()
        let (first, second) = (load(token(1, 5)), load(token(1, 5)))
        table.insert(first)
        table.insert(second)
        #expect(table.count == 1 && table[token(1, 5)] === second)
        table.removeAll()
        #expect(table.isEmpty && table[token(1, 5)] == nil)
    }
}
