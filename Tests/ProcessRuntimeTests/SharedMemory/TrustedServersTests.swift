import Glibc
import Linux
import ProcessRuntime
import TestKit
import Testing

/// Which coordinators a client trusts if the runtime directory wasn't given explicitly.
@Suite(.enabled(if: CurrentProcess.userID == 0, "only root gives files away"))
struct TrustedServersTests {
    private let folder = TestKit.TemporaryDirectory()
    private var root: String { folder.file("bus") }
    private let user: UInt32 = 4_242
    private let stranger: UInt32 = 4_243

    /// Creates `bus/front` with the owner and mode of `bus`.
    private func make(owner: UInt32, mode: UInt32 = 0o755, keeper: UInt32? = nil) throws {
        try FileDescriptor.makeDirectory(path: root)
        try FileDescriptor.makeDirectory(path: "\(root)/front")
        let front = try FileDescriptor.openDirectory("\(root)/front")
        try front.setOwner(userID: keeper ?? owner, groupID: 0)
        let bus = try FileDescriptor.openDirectory(root)
        try bus.setOwner(userID: owner, groupID: 0)
        try bus.setMode(mode)
        try FileDescriptor.openDirectory(folder.path).setMode(0o755)
    }

    private func trusted() throws -> Set<UInt32>? {
        try TrustedServers(in: root, listener: "front", user: user)?.userIDs
    }

    @Test func aDirectoryOfTheUserIsServedByItOrByRoot() throws {
        try make(owner: user)
        #expect(try trusted() == [0, user])
    }

    @Test func rootSaysWhoServesADirectoryOfItsOwn() throws {
        try make(owner: 0, keeper: 4_100)
        #expect(try trusted() == [0, user, 4_100])
    }

    @Test func whatIsNotThereIsServedByNobody() throws {
        #expect(try trusted() == nil)
    }

    @Test func aDirectoryOfAnotherUserIsRefused() throws {
        try make(owner: stranger)
        #expect(throws: UntrustedDirectoryError.wrongOwner(root, owner: stranger, user: user)) {
            try trusted()
        }
    }

    @Test(arguments: [0o775, 0o757, 0o1777] as [UInt32])
    func oneThatOthersChangeIsRefused(_ mode: UInt32) throws {
        try make(owner: user, mode: mode)
        #expect(throws: UntrustedDirectoryError.writable(root, mode: mode)) { try trusted() }
    }

    @Test func soIsOneBelowADirectoryThatOthersChange() throws {
        try make(owner: user)
        try FileDescriptor.openDirectory(folder.path).setMode(0o777)
        #expect(throws: UntrustedDirectoryError.writable(folder.path, mode: 0o777)) {
            try trusted()
        }
        // Other users may add names there, but replace none.
        try FileDescriptor.openDirectory(folder.path).setMode(0o1777)
        #expect(try trusted() == [0, user])
    }

    @Test func aLinkIsRefusedWhereverItLeads() throws {
        try make(owner: user)
        try #require(symlink(root, folder.file("link")) == 0)
        #expect(throws: UntrustedDirectoryError.notDirectory(folder.file("link"))) {
            try TrustedServers(in: folder.file("link"), listener: "front", user: user)
        }
    }
}
