import Linux
import Model
import Testing

@testable import Coordinator

/// Which secret gives access to which listener.
@Suite struct AuthenticatorTests {
    private let bytes = Random.bytes(count: ListenerSecrets.byteCount)
    private let listeners: [Listener] = [.admin] + WorkerKind.workers.map { .back(PoolName($0)) }

    /// The part of `bytes` for a listener.
    private func part(_ listener: Listener) throws -> [UInt8] {
        let index = try #require(listeners.firstIndex(of: listener))
        return Array(
            bytes.dropFirst(index * ListenerSecret.byteCount).prefix(ListenerSecret.byteCount))
    }

    @Test func eachListenerIsOpenedByItsOwnPartAlone() throws {
        let keeper = try Authenticator(inherited: bytes)
        for shown in listeners {
            let secret = try ListenerSecret(part(shown))
            for listener in listeners {
                let code = keeper.refusal(of: secret, at: listener)?.code
                #expect(
                    code == (listener == shown ? nil : .addressForbidden), "\(shown) at \(listener)"
                )
            }
        }
        #expect(listeners.allSatisfy { keeper.refusal(of: nil, at: $0)?.code == .addressForbidden })
        #expect(keeper.refusal(of: nil, at: .front) == nil)
        #expect(keeper.refusal(of: nil, at: .web) == nil)
    }

    /// Further pools have secrets under their names; a file with other names belongs to another
    /// stack.
    @Test func furtherPoolsHaveSecretsOfTheirOwn() throws {
        let names = try ["raw", "a-name-of-sixtee"].map { try #require(PoolName($0)) }
        let secrets = try #require(ListenerSecrets(further: names) { Random.bytes(count: $0) })
        #expect(ListenerSecrets(secrets.bytes) == secrets)
        #expect(Set(secrets.workers.values).count == 6)
        var raw = WorkerPool(name: names[0], kind: .decode)
        raw.trust = .external
        let pools = WorkerPools([raw, WorkerPool(name: names[1], kind: .download)])
        let keeper = try Authenticator(inherited: secrets.bytes, pools: pools)
        for (pool, secret) in secrets.workers {
            for listener in Listener.all(pools) where !listener.isOfClients {
                let isOwn = listener == .back(pool)
                #expect(
                    (keeper.refusal(of: secret, at: listener) == nil) == isOwn,
                    "\(pool) \(listener)")
            }
        }
        let advice = keeper.refusal(of: nil, at: .back(names[0]))?.message
        #expect(advice?.contains("requires the secret in back/raw/secret") == true)
        for other in [WorkerPools(), WorkerPools([raw])] {
            let error = #expect(throws: (any Error).self) {
                _ = try Authenticator(inherited: secrets.bytes, pools: other)
            }
            #expect("\(String(describing: error))".contains("restart serve"))
        }
    }

    @Test func everyByteCounts() throws {
        let keeper = try Authenticator(inherited: bytes)
        for index in 0..<ListenerSecret.byteCount {
            var wrong = try part(.admin)
            wrong[index] ^= 0x80
            #expect(keeper.refusal(of: ListenerSecret(wrong), at: .admin) != nil, "byte \(index)")
        }
    }

    @Test func withoutSecretsNoListenerAsks() throws {
        let keeper = try Authenticator(inherited: nil)
        for listener in listeners + [.front, .web] {
            #expect(keeper.refusal(of: nil, at: listener) == nil)
            #expect(keeper.refusal(of: ListenerSecret(bytes.prefix(32)), at: listener) == nil)
        }
    }

    /// Unreadable secrets must not disable authentication.
    @Test(arguments: [0, ListenerSecret.byteCount, ListenerSecrets.byteCount - 1])
    func bytesThatAreNotAllSecretsEndTheStart(_ count: Int) throws {
        let error = try #require(throws: (any Error).self) {
            _ = try Authenticator(inherited: Array(bytes.prefix(count)))
        }
        #expect("\(error)".contains("have \(count) bytes instead of 160"))
    }
}
