import Model
import Testing

@Suite struct OrientationTests {
    @Test func theNumberOfEXIFSurvives() {
        for number in 1...8 { #expect(Orientation(exif: number).exif == number) }
        for number in [-1, 0, 9, 65_535] { #expect(Orientation(exif: number).isUpright) }
    }

    /// A camera writes 6 if the image is displayed correctly after a clockwise quarter turn.
    @Test func quarterTurnsGoAroundInFourSteps() {
        let turns = (0...4).map { Orientation.upright.turned(quarters: $0).exif }
        #expect(turns == [1, 6, 3, 8, 1])
        let mirrored = (0...4).map { Orientation(exif: 2).turned(quarters: $0).exif }
        #expect(mirrored == [2, 7, 4, 5, 2])
    }

    @Test(arguments: 1...8)
    func mirroringTwiceIsNothing(number: Int) {
        let orientation = Orientation(exif: number)
        for (across, down) in [(true, false), (false, true), (true, true)] {
            let once = orientation.flipped(horizontally: across, vertically: down)
            #expect(once != orientation)
            #expect(once.flipped(horizontally: across, vertically: down) == orientation)
        }
        let both = orientation.flipped(horizontally: true, vertically: true)
        #expect(both == orientation.turned(quarters: 2))
    }

    @Test func sidesAreExchangedByTranspositions() {
        let size = PixelSize(width: 3, height: 2)
        for number in 1...8 {
            let orientation = Orientation(exif: number)
            #expect(orientation.displayed(size) == (number < 5 ? size : size.transposed))
            #expect(orientation.stored(orientation.displayed(size)) == size)
        }
    }
}
