extension RealProcesses {
    /// A kind of worker that is started before the coordinator.
    @Suite(
        .enabled(
            if: ContainerPlace.obstacle == nil,
            "there can be no containers here: \(ContainerPlace.obstacle ?? "")"))
    struct WaitingTests {
        @Test func aKindWaitsForTheCoordinatorAndSaysSoOnce() throws {
            let place = try ContainerPlace()
            let decode = try place.serve(.decode)
            try awaitLine("waiting for the coordinator", of: decode)
            #expect(try decode.run(["health"]).exitStatus == 1)
            let coordinator = try place.serve(.coordinator)
            try decode.awaitReady()
            #expect(try decode.run(["health"]).exitStatus == 0)
            let log = FileBytes.text(decode.logFile) ?? ""
            #expect(log.split(separator: "\n").count { $0.contains("waiting") } == 1, "\(log)")
            #expect(try coordinator.stop() == "exit 0")
            #expect(try decode.stop() == "exit 0")
        }

        @Test func sigtermEndsTheWaiting() throws {
            let place = try ContainerPlace()
            let decode = try place.serve(.decode)
            try awaitLine("waiting for the coordinator", of: decode)
            #expect(try decode.stop() == "exit 0")
            withExtendedLifetime(place) {}
        }

        private func awaitLine(_ text: String, of container: Container) throws {
            try pollUntil("'\(text)'", log: container.logFile) {
                FileBytes.text(container.logFile)?.contains(text) == true
            }
        }
    }
}
