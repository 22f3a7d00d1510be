import ImageModel
import Linux
import Messages
import Testing

@testable import CoordinatorRuntime

/// Which secret opens which door.
@Suite struct DoorkeeperTests {
    private let bytes = Random.bytes(count: DoorSecrets.byteCount)
    private let doors: [Door] = [.admin] + WorkerKind.workers.map { .back(PoolName($0)) }

    /// The part of `bytes` that is for a door.
    private func part(_ door: Door) throws -> [UInt8] {
        let index = try #require(doors.firstIndex(of: door))
        return Array(bytes.dropFirst(index * DoorSecret.byteCount).prefix(DoorSecret.byteCount))
    }

    @Test func eachDoorIsOpenedByItsOwnPartAlone() throws {
        let keeper = try Doorkeeper(inherited: bytes)
        for shown in doors {
            let secret = try DoorSecret(part(shown))
            for door in doors {
                let code = keeper.refusal(of: secret, at: door)?.code
                #expect(code == (door == shown ? nil : .addressForbidden), "\(shown) at \(door)")
            }
        }
        #expect(doors.allSatisfy { keeper.refusal(of: nil, at: $0)?.code == .addressForbidden })
        #expect(keeper.refusal(of: nil, at: .front) == nil)
    }

    /// Further pools have secrets under their names; a file that names others is another stack's.
    @Test func furtherPoolsHaveSecretsOfTheirOwn() throws {
        let names = try ["raw", "a-name-of-sixtee"].map { try #require(PoolName($0)) }
        let secrets = try #require(DoorSecrets(further: names) { Random.bytes(count: $0) })
        #expect(DoorSecrets(secrets.bytes) == secrets)
        #expect(Set(secrets.workers.values).count == 6)
        var raw = WorkerPool(name: names[0], kind: .decode)
        raw.trust = .foreign
        let pools = WorkerPools([raw, WorkerPool(name: names[1], kind: .download)])
        let keeper = try Doorkeeper(inherited: secrets.bytes, pools: pools)
        for (pool, secret) in secrets.workers {
            for door in Door.all(pools) where door != .front {
                let isOwn = door == .back(pool)
                #expect((keeper.refusal(of: secret, at: door) == nil) == isOwn, "\(pool) \(door)")
            }
        }
        let advice = keeper.refusal(of: nil, at: .back(names[0]))?.message
        #expect(advice?.contains("needs the bytes of back/raw/secret") == true)
        for other in [WorkerPools(), WorkerPools([raw])] {
            let error = #expect(throws: (any Error).self) {
                _ = try Doorkeeper(inherited: secrets.bytes, pools: other)
            }
            #expect("\(String(describing: error))".contains("start serve again"))
        }
    }

    @Test func everyByteCounts() throws {
        let keeper = try Doorkeeper(inherited: bytes)
        for index in 0..<DoorSecret.byteCount {
            var wrong = try part(.admin)
            wrong[index] ^= 0x80
            #expect(keeper.refusal(of: DoorSecret(wrong), at: .admin) != nil, "byte \(index)")
        }
    }

    @Test func withoutSecretsNoDoorAsks() throws {
        let keeper = try Doorkeeper(inherited: nil)
        for door in doors + [.front] {
            #expect(keeper.refusal(of: nil, at: door) == nil)
            #expect(keeper.refusal(of: DoorSecret(bytes.prefix(32)), at: door) == nil)
        }
    }

    /// Secrets that cannot be read are no reason to ask for none.
    @Test(arguments: [0, DoorSecret.byteCount, DoorSecrets.byteCount - 1])
    func bytesThatAreNotAllSecretsEndTheStart(_ count: Int) throws {
        let error = try #require(throws: (any Error).self) {
            _ = try Doorkeeper(inherited: Array(bytes.prefix(count)))
        }
        #expect("\(error)".contains("have \(count) bytes, not 160"))
    }
}
