import ImageModel
import Linux
import Messages
import Testing

@testable import CoordinatorRuntime

/// Which secret opens which door.
@Suite struct DoorkeeperTests {
    private let bytes = Random.bytes(count: DoorSecrets.byteCount)
    private let doors: [Door] = [.admin] + WorkerKind.workers.map { .back($0) }

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
