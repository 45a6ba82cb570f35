# SPDX-License-Identifier: Apache-2.0
# The look of carom's own pictures, for figures of docs/ that gnuplot draws directly: set the output after loading it. Colours are those of
# src/io/plot/looks.c, by law and in their order as line types.
set encoding utf8
set terminal pngcairo size 1200,900 font 'Sans,14' background rgb 'white'
halm_posa = '#0072b2'; anitescu_potra = '#d55e00'; sequential = '#009e73'; propagative = '#cc79a7'; halm_posa_exact = '#e69f00'
routh = '#56b4e9'; moreau = '#000000'; stronge = '#882255'; lzb = '#808020'
array looks[9] = [halm_posa, anitescu_potra, sequential, propagative, halm_posa_exact, routh, moreau, stronge, lzb]
do for [i = 1:9] { set linetype i lc rgb looks[i] lw 2.5 pt 7 dt 1 }
set grid lt 1 lw 1 lc rgb '#e6e6e6'
set border 3 lw 1 lc rgb '#606060'
set tics nomirror out textcolor rgb '#202020'
set title font ',18' offset 0,0.3
set key below center maxcols 2 Left reverse samplen 2 spacing 1.3 font ',13'
