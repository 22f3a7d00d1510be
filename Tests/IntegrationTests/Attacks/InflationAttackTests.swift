extension RealProcesses {
    /// Small PNGs that inflate to gigabytes, while another HTTP client loads other images.
    @Suite struct InflationAttackTests {
        private let origin = OriginServer()

        @Test func whatInflatesToMoreThanItsPixelsIsRefusedAndDelaysNobody() async throws {
            origin.route("/pixels/*", .bytes(PNGOfZeros.file(pixelBytes: 512 << 20)))
            let text = PNGOfZeros.metadata("iTXt", 64 << 20)
            let texts = Array(repeating: text, count: 24)
            origin.route("/texts/*", .bytes(PNGOfZeros.file(texts)))
            let attack = LimitAttack(
                origin: origin, files: "inflating PNGs", interval: .milliseconds(100)
            ) { number in
                "/\(number % 2 == 0 ? "pixels" : "texts")/\(number)"
            }
            try await attack.expectRefusalsThatDelayNobody()
        }
    }
}
