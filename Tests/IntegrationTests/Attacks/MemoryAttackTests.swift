extension RealProcesses {
    /// Small files whose decoder would allocate gigabytes, while another HTTP client loads other
    /// images.
    @Suite struct MemoryAttackTests {
        private let origin = OriginServer()

        @Test func aFileThatTakesTooMuchMemoryIsRefusedAndDelaysNobody() async throws {
            origin.route("/bad/*", .bytes(LargeJXL.file, contentType: "image/jxl"))
            let attack = LimitAttack(
                origin: origin, files: "files that need 2 GB", interval: .milliseconds(25)
            ) { number in
                "/bad/\(number)"
            }
            try await attack.expectRefusalsThatDelayNobody()
        }
    }
}
