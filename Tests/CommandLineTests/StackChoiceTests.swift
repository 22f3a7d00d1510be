import Linux
import Model
import ProcessRuntime
import Supervision
import TestKit
import Testing

@testable import CommandLineInterface
@testable import imagebus_cli

@Suite struct StackChoiceTests {
    private let folder = TestKit.TemporaryDirectory()

    private func options(_ arguments: [String], isNamed: Bool = true) throws -> StackOptions {
        let environment = ["HOME": "/home/a", "XDG_RUNTIME_DIR": folder.path]
        let named = isNamed ? ["--runtime-dir", folder.file("bus")] : []
        return try GetOptions.read(["http://a/b"] + named + arguments, environment).stack
    }

    @Test func whereNobodyServesAStackOfItsOwnIsStarted() throws {
        #expect(try StackRoute.chosen(by: options([], isNamed: false)) == nil)
    }

    @Test func whereNobodyServesANamedDirectoryThatIsSaid() throws {
        let error = #expect(throws: ImageError.self) { try StackRoute.chosen(by: options([])) }
        #expect(error?.code == .unavailable)
        #expect(error?.message.contains("serve --runtime-dir \(folder.file("bus"))") == true)
        #expect(try StackRoute.chosen(by: options(["--private"])) == nil)
    }

    @Test func whoeverHoldsTheLockIsWaitedFor() throws {
        let memory = try Linux.TemporaryDirectory(in: "/dev/shm")
        let directory = try RuntimeDirectory(
            root: folder.file("bus"), kinds: [.coordinator], sharedMemory: memory.path)
        let paths = directory.paths
        let route = try #require(try StackRoute.chosen(by: options([])))
        #expect(route.paths == paths && route.isSupervised && route.servers == nil)
        #expect(try StackRoute.chosen(by: options(["--private"])) == nil)
        withExtendedLifetime(directory) {}
    }

    @Test func aWorkersSupervisorIsNoStack() throws {
        let memory = try Linux.TemporaryDirectory(in: "/dev/shm")
        let directory = try RuntimeDirectory(
            root: folder.file("bus"), kinds: [.decode], sharedMemory: memory.path)
        #expect(throws: ImageError.self) { try StackRoute.chosen(by: options([])) }
        withExtendedLifetime(directory) {}
    }

    @Test func aNamedEndpointIsTakenWithoutLooking() throws {
        let named = try options(["--endpoint", "ipc:///nowhere/front/front.sock"])
        let route = try #require(try StackRoute.chosen(by: named))
        #expect(route.paths == RuntimePaths(root: "/nowhere"))
        #expect(!route.isSupervised && route.servers == nil)
    }

    @Test func aTextThatIsNoEndpointIsAUsageError() throws {
        let error = #expect(throws: ImageError.self) {
            try StackRoute.chosen(by: options(["--endpoint", "tcp://host:1"]))
        }
        #expect(error?.exitStatus == 64)
    }
}
