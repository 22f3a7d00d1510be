import Model
import Testing

@testable import Wire

@Suite struct TokenedBodyTests {
    private let token = Token(Identifier128(high: 0x0102_0304_0506_0708, low: 9))

    private func load(_ token: Token) throws -> [UInt8] {
        var encoder = MessageEncoder()
        let request = LoadRequest(token: token, image: ImageRequest(url: "http://a/b"))
        _ = try encoder.encode(.load(request))
        return encoder.packed()
    }

    private func parts(_ bytes: [UInt8]) -> (token: Token, count: Int)? {
        guard let body = TokenedBody(bytes.span.bytes) else { return nil }
        return (body.token, body.rest.byteCount)
    }

    @Test func aLoadIsItsTokenAndTheRest() throws {
        let bytes = try load(token)
        let parts = try #require(self.parts(bytes))
        #expect(parts.token == token)
        #expect(parts.count == bytes.count - TokenedBody.restOffset)
    }

    @Test func theRestForAnotherTokenIsTheOtherBody() throws {
        let other = Token(Identifier128(high: .max, low: 1))
        let rest = try load(token).dropFirst(TokenedBody.restOffset)
        let count = TokenedBody.restOffset + rest.count
        let written = [UInt8](unsafeUninitializedCapacity: count) { target, filled in
            Array(rest).withUnsafeBytes {
                TokenedBody.write(
                    other, $0,
                    into: UnsafeMutableRawBufferPointer(
                        rebasing: UnsafeMutableRawBufferPointer(target)[..<count]))
            }
            filled = count
        }
        #expect(written == (try load(other)))
    }

    @Test func whatBeginsOtherwiseHasNoToken() {
        let bodies: [[UInt8]] = [
            [], [0x0A], [0x0A, 0x10] + Array(repeating: 0, count: 16),
            [0x0A, 0x0F] + Array(repeating: 0, count: 30),
            [0x12, 0x10] + Array(repeating: 0, count: 30),
        ]
        for body in bodies { #expect(parts(body) == nil) }
    }

    @Test func aValueIsFoundByExactlyItsBytes() {
        var memo = RestMemo<Int>(bits: 4, restBytesMax: 40)
        func rest(_ count: Int, _ changed: Int? = nil) -> [UInt8] {
            (0..<count).map { $0 == changed ? 0xFF : UInt8($0) }
        }
        memo.keep(7, for: rest(37).span.bytes)
        #expect(memo.value(for: rest(37).span.bytes) == 7)
        #expect(memo.value(for: rest(36).span.bytes) == nil)
        for place in 0..<37 { #expect(memo.value(for: rest(37, place).span.bytes) == nil) }
        memo.keep(8, for: rest(37).span.bytes)
        #expect(memo.value(for: rest(37).span.bytes) == 8)
    }

    @Test func whatIsTooLongIsNotKept() {
        var memo = RestMemo<Int>(bits: 0, restBytesMax: 2)
        memo.keep(1, for: ([1, 2, 3] as [UInt8]).span.bytes)
        #expect(memo.value(for: ([1, 2, 3] as [UInt8]).span.bytes) == nil)
        memo.keep(2, for: ([2] as [UInt8]).span.bytes)
        #expect(memo.value(for: ([2] as [UInt8]).span.bytes) == 2)
    }
}
